package matmul

import "github.com/gopherwarp/gopherwarp/gpu"

const (
	singleTile  = 128            // rows and columns of C that a block computes
	singleDepth = 8              // columns of A, and rows of B, that are multiplied at a time
	singleQuads = singleTile / 4 // quads in a row or column of a tile
)

// single multiplies float32 elements without tensor cores, which would round them to 10 bits. A block computes
// 128x128 elements, a thread four by two quads of 4x4, which leaves one instruction in ten for anything but products.
// While it multiplies a slab of A and B in shared memory, it loads the next slab into registers; and while it
// multiplies a column of the slab, it loads the next column, even the first one of the next slab. The tile of A is
// stored transposed, in rows with one more quad, so that the threads of a warp write to different banks.
//
//gpu:kernel
//gpu:block 128
//gpu:resident 2
func single(t gpu.Thread, a, b, c [][4]float32, s Shape) {
	left := gpu.Shared[singleLeft](t)
	right := gpu.Shared[singleRight](t)
	me := t.ThreadX()
	wide, deep := s.N/4, s.K/4
	row0, col0 := t.BlockY()*singleTile, t.BlockX()*singleQuads
	// A warp has eight quads side by side and four below each other. Shared memory serves half a warp at a time if
	// two neighbors (for A), or each thread and the next but one (for B), read the same quad.
	lane, warp := me%32, me/32
	x := lane&1 | lane>>2&3<<1 | warp%2<<3
	y := lane>>1&1 | lane>>4<<1 | warp/2<<2

	// The positions of the thread's next quads: two rows of A, two of B. Elements outside C are computed from the last
	// row and column, and are not stored. Launch32 ensures that all indices fit 32 bits, which saves registers.
	acol, brow := int32(me%2), int32(me/singleQuads)
	ia := int32(min(row0+me/2, s.M-1)*deep) + acol
	ja := int32(min(row0+me/2+singleTile/2, s.M-1)*deep) + acol
	ib := brow*int32(wide) + int32(min(col0+me%singleQuads, wide-1))
	half := int32(singleDepth / 2 * wide)
	rest := int32(s.K) // columns of A, and rows of B, that are left to multiply; beyond them, quads are zero
	va, wa := quad(a, ia, rest/4-acol), quad(a, ja, rest/4-acol)
	vb, wb := quad(b, ib, rest-brow), quad(b, ib+half, rest-brow-singleDepth/2)
	left.put(0, me, va, wa)
	right.put(0, me, vb, wb)
	t.Sync()

	var sums [4][4][2][4]float32
	column, row := left.get(0, 0, y), right.get(0, 0, x)
	buffer := 0
	for ; rest > 0; rest -= singleDepth {
		ia, ja, ib = ia+singleDepth/4, ja+singleDepth/4, ib+2*half
		if next := rest - singleDepth; next >= singleDepth {
			va, wa, vb, wb = a[ia], a[ja], b[ib], b[ib+half]
		} else if next > 0 {
			va, wa = quad(a, ia, next/4-acol), quad(a, ja, next/4-acol)
			vb, wb = quad(b, ib, next-brow), quad(b, ib+half, next-brow-singleDepth/2)
		}
		for k := range singleDepth - 1 {
			nextColumn, nextRow := left.get(buffer, k+1, y), right.get(buffer, k+1, x)
			multiplyQuads(&sums, column, row)
			column, row = nextColumn, nextRow
		}
		buffer ^= 1 // before the last Sync, all threads had read the other slab
		left.put(buffer, me, va, wa)
		right.put(buffer, me, vb, wb)
		t.Sync()
		nextColumn, nextRow := left.get(buffer, 0, y), right.get(buffer, 0, x)
		multiplyQuads(&sums, column, row)
		column, row = nextColumn, nextRow
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

// singleLeft holds two slabs of A: for each column, the quads of its rows. singleRight holds two
// slabs of B.
type (
	singleLeft  [2][singleDepth][singleQuads + 1][4]float32
	singleRight [2][singleDepth][singleQuads][4]float32
)

// put stores the quads v and w of row me/2, and of the row half a tile below it, in slab i.
func (l *singleLeft) put(i, me int, v, w [4]float32) {
	for k := range 4 {
		l[i][me%2*4+k][me/8][me/2%4] = v[k]
		l[i][me%2*4+k][me/8+singleQuads/2][me/2%4] = w[k]
	}
}

// put stores the quads v and w of row me/singleQuads, and of the row half a slab below it, in slab
// i.
func (r *singleRight) put(i, me int, v, w [4]float32) {
	r[i][me/singleQuads][me%singleQuads] = v
	r[i][me/singleQuads+singleDepth/2][me%singleQuads] = w
}

// get returns the quads of column k of slab i that a thread multiplies.
func (l *singleLeft) get(i, k, y int) (column [4][4]float32) {
	for p := range column {
		column[p] = l[i][k][y+p*singleQuads/4]
	}
	return column
}

// get returns the quads of row k of slab i that a thread multiplies.
func (r *singleRight) get(i, k, x int) [2][4]float32 {
	return [2][4]float32{r[i][k][x], r[i][k][x+singleQuads/2]}
}

// multiplyQuads adds the products of each element of a column and each element of a row to sums.
func multiplyQuads(sums *[4][4][2][4]float32, column [4][4]float32, row [2][4]float32) {
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

// quad returns x[i], or zeros if left is not positive.
func quad(x [][4]float32, i, left int32) (v [4]float32) {
	if left > 0 {
		v = x[i]
	}
	return v
}
