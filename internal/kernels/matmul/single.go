package matmul

import "github.com/gopherwarp/gopherwarp/gpu"

const (
	singleTile  = 128            // rows and columns of C that a block computes
	singleDepth = 8              // columns of A, and rows of B, that are multiplied at a time
	singleQuads = singleTile / 4 // in which the matrices come
)

// single multiplies float32 numbers without tensor cores, which would round them to 10 bits: a block computes 128x128
// elements, a thread four by two quads of 4x4, which leaves one instruction in ten for anything but products.
// While it multiplies what lies in shared memory, what comes next is on its way to registers. The tile of A is
// transposed there, in rows that are a quad longer, so that the threads of a warp write to different banks.
//
//gpu:kernel
//gpu:block 128
//gpu:resident 2
func single(t gpu.Thread, a, b, c [][4]float32, s Shape) {
	left := gpu.Shared[[2][singleDepth][singleQuads + 1][4]float32](t)
	right := gpu.Shared[[2][singleDepth][singleQuads][4]float32](t)
	me := t.ThreadX()
	wide, deep := s.N/4, s.K/4
	row0, col0 := t.BlockY()*singleTile, t.BlockX()*singleQuads
	// A warp has eight quads side by side, four below each other. Shared memory serves half a warp at once where two
	// neighbours, or each thread and the next but one, read the same quad: of A the former, of B the latter.
	lane, warp := me%32, me/32
	x := lane&1 | lane>>2&3<<1 | warp%2<<3
	y := lane>>1&1 | lane>>4<<1 | warp/2<<2

	// Where the thread's next quads of A and B are: two rows of A, two of B. What is outside of C is computed from the
	// last row and column, and is not stored. Launch32 sees to it that all fits 32 bits, which saves registers.
	acol, brow := int32(me%2), int32(me/singleQuads)
	ia := int32(min(row0+me/2, s.M-1)*deep) + acol
	ja := int32(min(row0+me/2+singleTile/2, s.M-1)*deep) + acol
	ib := brow*int32(wide) + int32(min(col0+me%singleQuads, wide-1))
	half := int32(singleDepth / 2 * wide)
	rest := int32(s.K) // of the columns of A, and rows of B, that are not in registers; behind them all is zero
	va, wa := quad(a, ia, rest/4-acol), quad(a, ja, rest/4-acol)
	vb, wb := quad(b, ib, rest-brow), quad(b, ib+half, rest-brow-singleDepth/2)

	var sums [4][4][2][4]float32
	buffer := 0
	for ; rest > 0; rest -= singleDepth {
		for i := range 4 {
			left[buffer][int(acol)*4+i][me/8][me/2%4] = va[i]
			left[buffer][int(acol)*4+i][me/8+singleQuads/2][me/2%4] = wa[i]
		}
		right[buffer][brow][me%singleQuads] = vb
		right[buffer][brow+singleDepth/2][me%singleQuads] = wb
		t.Sync()
		ia, ja, ib = ia+singleDepth/4, ja+singleDepth/4, ib+2*half
		if next := rest - singleDepth; next >= singleDepth {
			va, wa, vb, wb = a[ia], a[ja], b[ib], b[ib+half]
		} else if next > 0 {
			va, wa = quad(a, ia, next/4-acol), quad(a, ja, next/4-acol)
			vb, wb = quad(b, ib, next-brow), quad(b, ib+half, next-brow-singleDepth/2)
		}
		for k := range singleDepth {
			var column [4][4]float32
			for p := range column {
				column[p] = left[buffer][k][y+p*singleQuads/4]
			}
			row := [2][4]float32{right[buffer][k][x], right[buffer][k][x+singleQuads/2]}
			for p := range 4 {
				for i := range 4 {
					for q := range 2 {
						for j := range 4 {
							sums[p][i][q][j] += column[p][i] * row[q][j]
						}
					}
				}
			}
		}
		buffer ^= 1
	}
	for p := range 4 {
		for i := range 4 {
			for q := range 2 {
				at, from := row0+4*(y+p*singleQuads/4)+i, col0+x+q*singleQuads/2
				if at < s.M && from < wide {
					c[at*wide+from] = sums[p][i][q]
				}
			}
		}
	}
}

// quad returns x[i], or zeros where nothing is left.
func quad(x [][4]float32, i, left int32) (v [4]float32) {
	if left > 0 {
		v = x[i]
	}
	return v
}
