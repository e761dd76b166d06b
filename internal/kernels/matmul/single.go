package matmul

import "github.com/gopherwarp/gopherwarp/gpu"

const (
	singleTile  = 128            // rows and columns of C that a block computes
	singleDepth = 8              // columns of A, and rows of B, that are multiplied at a time
	singleQuads = singleTile / 4 // in which the matrices come
)

// single multiplies float32 numbers without tensor cores, which would round them to 10 bits: a block computes 128x128
// elements, a thread two by two quads of 4x4. While it multiplies what lies in shared memory, what comes next is
// on its way to registers. The tile of A is transposed there, in rows that are a quad longer, so that the
// threads of a warp write to different banks.
//
//gpu:kernel
//gpu:block 256
//gpu:resident 2
func single(t gpu.Thread, a, b, c [][4]float32, s Shape) {
	left := gpu.Shared[[2][singleDepth][singleQuads + 1][4]float32](t)
	right := gpu.Shared[[2][singleDepth][singleQuads][4]float32](t)
	me := t.ThreadX()
	wide, deep := s.N/4, s.K/4
	row0, col0 := t.BlockY()*singleTile, t.BlockX()*singleQuads
	// A warp has eight quads side by side, four below each other.
	x, y := me%8+me/32%2*8, me/8%4+me/64*4

	// Where the thread's next quads of A and B are, and how far it is from there to the end of the row or column; rows
	// and columns that do not exist are zero. Launch32 sees to it that all fits 32 bits, which saves registers.
	arow, acol := row0+me/2, me%2
	brow, bcol := me/singleQuads, col0+me%singleQuads
	ia, ib := int32(arow*deep+acol), int32(brow*wide+bcol)
	ka, kb := int32(0), int32(0)
	if arow < s.M {
		ka = int32(deep - acol)
	}
	if bcol < wide {
		kb = int32(s.K - brow)
	}
	va, vb := quad(a, ia, ka), quad(b, ib, kb)

	var sums [2][4][2][4]float32
	buffer := 0
	for k0 := int32(s.K); k0 > 0; k0 -= singleDepth {
		for i, v := range va {
			left[buffer][me%2*4+i][me/2/4][me/2%4] = v
		}
		right[buffer][me/singleQuads][me%singleQuads] = vb
		t.Sync()
		if k0 > singleDepth {
			ia, ib, ka, kb = ia+singleDepth/4, ib+int32(singleDepth*wide), ka-singleDepth/4, kb-singleDepth
			va, vb = quad(a, ia, ka), quad(b, ib, kb)
		}
		for k := range singleDepth {
			column := [2][4]float32{left[buffer][k][y], left[buffer][k][y+singleQuads/2]}
			row := [2][4]float32{right[buffer][k][x], right[buffer][k][x+singleQuads/2]}
			for p := range 2 {
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
	for p := range 2 {
		for i := range 4 {
			for q := range 2 {
				at, from := row0+4*y+p*singleTile/2+i, col0+x+q*singleQuads/2
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
