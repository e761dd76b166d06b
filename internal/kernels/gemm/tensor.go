package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// tile is the arguments of tensor. The rows of B are the columns of op(B). Each warp computes 32 columns of op(B): 16 from
// Span times its number on, and 16 that are Second columns further right. Width is the number of columns of C.
type tile struct {
	M, N, K             int
	Width, Span, Second int
	A, B                operand
	LDC                 int
	Activation          Activation
}

// shape128 holds 128 rows of a step of an operand. Chunk j of row i is at j ^ i/2%4, so that the eight rows of an ldmatrix are in
// different banks.
type shape128[T gpu.Half] [128][4][8]T

// tensor computes 128x128 elements of op(A) op(B) in a block, for any shape, with warp products: 64x32 in a warp.
//
//gpu:kernel
//gpu:block 256
func tensor[T gpu.Half, C any, F rounding[C]](t gpu.Thread, a, b []T, c, residual []C, bias []float32, s tile) {
	left, right := gpu.Shared[shape128[T]](t), gpu.Shared[shape128[T]](t)
	sums := gpu.Shared[[8][16][33]float32](t)
	row0, col0 := t.BlockY()*128, t.BlockX()*4*s.Span
	warp, lane := t.ThreadX()/32, t.ThreadX()%32
	m0, n0 := warp/4*64, warp%4*32
	i, j := t.ThreadX()%128, t.ThreadX()/128
	column := col0 + i/32*s.Span + i%16
	if i%32 >= 16 {
		column += s.Second
	}
	var acc [4][4][4]float32
	for k0 := 0; k0 < s.K; k0 += 32 {
		for chunk := j; chunk < 4; chunk += 2 {
			load(&left[i][(chunk^i>>1)&3], view[T]{a, s.A, s.M, s.K}, position{row: row0 + i, k: k0 + chunk*8})
			load(&right[i][(chunk^i>>1)&3], view[T]{b, s.B, s.N, s.K}, position{row: column, k: k0 + chunk*8})
		}
		t.Sync()
		for k := range 2 {
			var x [4][4]gpu.Tile[T]
			for q := range 4 {
				r := m0 + q*16 + lane%16
				x[q] = gpu.LoadMatrix4(t, &left[r&127][(k*2+lane/16^r>>1)&3])
			}
			for q := range 2 {
				r := n0 + q*16 + lane%16
				y := gpu.LoadMatrix4(t, &right[r&127][(k*2+lane/16^r>>1)&3])
				for m := range 4 {
					acc[m][2*q] = gpu.MMA(t, x[m], [2]gpu.Tile[T]{y[0], y[2]}, acc[m][2*q])
					acc[m][2*q+1] = gpu.MMA(t, x[m], [2]gpu.Tile[T]{y[1], y[3]}, acc[m][2*q+1])
				}
			}
		}
		t.Sync()
	}
	for m := range 4 {
		for q := range 4 {
			for e := range 4 {
				sums[warp&7][lane/4+e/2*8][q*8+lane%4*2+e%2] = acc[m][q][e]
			}
		}
		t.SyncWarp()
		col := col0 + n0/32*s.Span + lane%16
		for row := range min(16, s.M-row0-m0-m*16) {
			line := &sums[warp&7][row&15]
			if lane < 16 || s.Activation != SwiGLU {
				finish[C, F](operandsOf[C]{c, residual, bias}, [2]float32{line[lane&31], line[(lane+16)&31]}, position{row: row0 + m0 + m*16 + row, col: col + lane/16*s.Second}, final{s.Width, s.Second, s.LDC, s.Activation})
			}
		}
		t.SyncWarp()
	}
}

// operandsOf are where results go, and what is added to them.
type operandsOf[C any] struct {
	c, residual []C
	bias        []float32
}

// view is op(A), or the transpose of op(B): rows of depth elements.
type view[T any] struct {
	x []T
	operand
	rows, depth int
}

// load copies eight elements of a row, with zeros for elements outside.
func load[T gpu.Half](to *[8]T, v view[T], p position) {
	*to = [8]T{}
	if p.row >= v.rows {
		return
	}
	for i := range min(8, v.depth-p.k) {
		to[i&7] = v.x[p.row*v.Row+(p.k+i)*v.Column]
	}
}

// final is how an element is finished: Second is the distance of the bias of the second sum, and Width is the number of columns of C.
type final struct {
	Width, Second, LDC int
	Activation         Activation
}

// finish stores an element of C. The second sum is the one that SwiGLU multiplies by.
func finish[C any, F rounding[C]](o operandsOf[C], sums [2]float32, p position, s final) {
	if p.col >= s.Width {
		return
	}
	var f F
	x := activate(sums[0]+at(o.bias, p.col), s.Activation)
	if s.Activation == SwiGLU {
		x *= sums[1] + at(o.bias, p.col+s.Second)
	}
	to := p.row*s.LDC + p.col
	if len(o.residual) > 0 {
		x += f.wide(o.residual[to])
	}
	o.c[to] = f.round(x)
}
