package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

const (
	squareTile  = 64 // rows and columns of op(A) op(B) that a block of square computes
	squareDepth = 16 // elements of each sum that are in shared memory
)

// slab holds squareDepth elements of the sums of an operand. The padding keeps threads that store down a column in different banks.
type slab [squareDepth][squareTile + 4]float32

// square multiplies float32 elements on GPUs, without tensor cores, which would round them to 10 bits. A block computes 64x64 elements
// from slabs in shared memory, a thread 4x4. For SwiGLU, half of the columns are s.Second columns further right.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
func square(t gpu.Thread, a, b, c, residual, bias []float32, s tile) {
	left, right := gpu.Shared[slab](t), gpu.Shared[slab](t)
	all := gpu.Shared[[squareTile][squareTile + 2]float32](t)
	row0, col0 := t.BlockY()*squareTile, t.BlockX()*s.Span
	x, y := t.ThreadX()%16*2, t.ThreadX()/16*4
	var sums [4][4]float32
	for k0 := 0; k0 < s.K; k0 += squareDepth {
		for e := t.ThreadX(); e < squareTile*squareDepth; e += 256 {
			k, i := e/squareTile, e%squareTile
			if s.A.Column == 1 {
				k, i = e%squareDepth, e/squareDepth
			}
			left[k&(squareDepth-1)][i&(squareTile-1)] = elementOf(view[float32]{a, s.A, s.M, s.K}, row0+i, k0+k)
			k, i = e/squareTile, e%squareTile
			if s.B.Column == 1 {
				k, i = e%squareDepth, e/squareDepth
			}
			column := col0 + i
			if i >= squareTile/2 {
				column += s.Second - squareTile/2
			}
			right[k&(squareDepth-1)][i&(squareTile-1)] = elementOf(view[float32]{b, s.B, s.N, s.K}, column, k0+k)
		}
		t.Sync()
		for k := range squareDepth {
			for i := range 4 {
				for j := range 4 {
					sums[i][j] += left[k][y+i] * right[k][x+j%2+j/2*(squareTile/2)]
				}
			}
		}
		t.Sync()
	}
	for i := range 4 {
		for j := range 4 {
			all[y+i][x+j%2+j/2*(squareTile/2)] = sums[i][j]
		}
	}
	t.Sync()
	i := t.ThreadX() % squareTile
	col := col0 + i
	if i >= squareTile/2 {
		if col += s.Second - squareTile/2; s.Activation == SwiGLU {
			return
		}
	}
	o := operandsOf[float32]{c, residual, bias}
	for r := t.ThreadX() / squareTile; r < min(squareTile, s.M-row0); r += 256 / squareTile {
		line := &all[r&(squareTile-1)]
		finish[float32, toF32](o, [2]float32{line[i], line[i&(squareTile/2-1)+squareTile/2]}, position{row: row0 + r, col: col}, final{s.Width, s.Second, s.LDC, s.Activation})
	}
}

// elementOf returns an element, or zero outside.
func elementOf(v view[float32], row, k int) float32 {
	if row >= v.rows || k >= v.depth {
		return 0
	}
	return v.x[row*v.Row+k*v.Column]
}
