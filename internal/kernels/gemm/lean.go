package gemm

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// quad is 16 bytes of memory: eight 16-bit elements.
type quad = [4]uint32

const (
	leanRows  = 32   // maximum of rows of op(A)
	leanWarps = 8    // of a block
	quadWidth = 8    // elements of a quad
	blockK    = 4    // quads of a row that four lanes load at once
	leanLong  = 8192 // the longest sums of products of more than leanRows/2 rows for which lean is the best form
)

// reach is what a warp of lean works on at once: blocks of eight rows of op(A), and ahead parts of 32 products of each sum, whose
// operands it has requested and not yet multiplied.
type reach interface {
	blocks() int
	ahead() int
}

type (
	eightRows     struct{}
	sixteenRows   struct{}
	thirtyTwoRows struct{}
)

func (eightRows) blocks() int   { return 1 }
func (eightRows) ahead() int    { return 8 }
func (sixteenRows) blocks() int { return 2 }
func (sixteenRows) ahead() int  { return 4 }

func (thirtyTwoRows) blocks() int { return 4 }
func (thirtyTwoRows) ahead() int  { return 2 }

// lines is the operands of lean in quads: rows are LDA and LDB quads apart, and have Quads quads, a multiple of those of a step. N is the
// number of columns of C. A block has eight columns of op(B) and those Second columns further right, Span columns from the next block's.
type lines struct {
	M, N, Quads, LDA, LDB int32
	Span, Second, LDC     int32
	Activation            Activation
	Weights               bool
}

// lean computes products of at most 32 rows of op(A) with layout NT, with products of warps whose operands come from memory without a
// detour. A block has 16 columns of op(B), the rows of its products, and each of its warps every eighth step of their sums. The order of
// the terms of a sum is such that a lane loads 16 consecutive bytes: both operands have the same order.
//
//gpu:kernel
//gpu:block 256
//gpu:target sm_90
func lean[T gpu.Half, C any, F rounding[C], R reach](t gpu.Thread, a, b []quad, c, residual []C, bias []float32, s lines) {
	t.StartNext()
	var r R
	parts := gpu.Shared[[4][leanWarps][16][9]float32](t)
	col := int32(t.BlockX())*s.Span + int32(t.Lane()/4)
	var w [16]quad // by part, then by half of the rows
	var x [8]quad  // by part, then by block
	var acc [4][4]float32
	step := int32(r.ahead() * blockK)
	at := int32(t.Warp()) * step
	if at < s.Quads && s.Weights {
		loadWeights[R](t, &w, feed{b, s, col, at})
	}
	t.AwaitPrevious()
	if at < s.Quads {
		if !s.Weights {
			loadWeights[R](t, &w, feed{b, s, col, at})
		}
		loadRows[R](t, &x, feed{a, s, 0, at})
	}
	for at < s.Quads {
		for i := range r.ahead() {
			near, far := w[2*i], w[2*i+1]
			for j := range r.blocks() {
				y := x[i*r.blocks()+j]
				for k := range 2 {
					left := [4]gpu.Tile[T]{gpu.Tile[T](near[2*k]), gpu.Tile[T](far[2*k]), gpu.Tile[T](near[2*k+1]), gpu.Tile[T](far[2*k+1])}
					acc[j] = gpu.MMA(t, left, [2]gpu.Tile[T]{gpu.Tile[T](y[2*k]), gpu.Tile[T](y[2*k+1])}, acc[j])
				}
			}
		}
		at += leanWarps * step
		if at < s.Quads {
			loadWeights[R](t, &w, feed{b, s, col, at})
			loadRows[R](t, &x, feed{a, s, 0, at})
		}
	}
	for j := range r.blocks() {
		for e := range 4 {
			parts[j][t.Warp()&(leanWarps-1)][t.Lane()/4+e/2*8][t.Lane()%4*2+e%2] = acc[j][e]
		}
	}
	t.Sync()
	row := t.ThreadX() / 8
	if row >= int(s.M) {
		return
	}
	var sums [2]float32
	for i := range leanWarps {
		for half := range 2 {
			sums[half] += parts[row/8&3][i][t.ThreadX()%8+half*8][row%8]
		}
	}
	o, f := operandsOf[C]{c, residual, bias}, final{int(s.N), int(s.Second), int(s.LDC), s.Activation}
	p := position{row: row, col: t.BlockX()*int(s.Span) + t.ThreadX()%8}
	finish[C, F](o, sums, p, f)
	if s.Activation != SwiGLU {
		p.col += int(s.Second)
		finish[C, F](o, [2]float32{sums[1]}, p, f)
	}
}

// feed is where a warp's elements are: in x, in the quads from at on. A lane's first row of the transpose of op(B) is row.
type feed struct {
	x []quad
	lines
	row, at int32
}

// loadWeights requests a warp's elements of op(B). Columns outside op(B) are its last one.
func loadWeights[R reach](t gpu.Thread, w *[16]quad, f feed) {
	var r R
	last := f.N - 1
	if f.Activation == SwiGLU {
		last += f.Second
	}
	for half := range 2 {
		row := min(f.row+int32(half)*f.Second, last)
		from := f.x[int(row)*int(f.LDB)+int(f.at):][:r.ahead()*blockK]
		for i := range r.ahead() {
			w[2*i+half] = from[i*blockK+t.Lane()%4]
		}
	}
}

// loadRows requests a warp's elements of op(A). Rows outside op(A) are its last one.
func loadRows[R reach](t gpu.Thread, x *[8]quad, f feed) {
	var r R
	for j := range r.blocks() {
		row := min(int32(j*8+t.Lane()/4), f.M-1)
		from := f.x[int(row)*int(f.LDA)+int(f.at):][:r.ahead()*blockK]
		for i := range r.ahead() {
			x[i*r.blocks()+j] = from[i*blockK+t.Lane()%4]
		}
	}
}

type leanLauncher[C any] func(s *device.Stream, g device.Blocks, a, b device.Slice[quad], c, residual device.Slice[C], bias device.Slice[float32], l lines) error

// leanBest reports whether lean is the fastest form for a product that it can compute. With more rows, it is for products whose blocks all
// run at the same time, and whose sums are not too long: each block loads op(A).
func leanBest(s Shape, cores int) bool {
	return s.M <= leanRows/2 || ceil(s.N, 2*quadWidth) <= 2*cores && s.K <= leanLong
}

// leanOf returns the number of the instance of lean with the fewest rows that computes a product, or -1 if there is none. An instance
// of fewer rows loads more products of a sum at once, and their number must be a multiple of that.
func leanOf(s Shape) int {
	if s.Layout != NT {
		return -1
	}
	for i, rows := range [...]int{8, 16, 32} {
		if s.M <= rows && s.K%(2048/rows) == 0 {
			return i
		}
	}
	return -1
}

// lean launches the kernel.
func (p planner[T, C]) lean(s *device.Stream) error {
	l := lines{M: int32(p.M), N: int32(p.width), Quads: int32(p.K / quadWidth), LDA: int32(p.LDA / quadWidth), LDB: int32(p.LDB / quadWidth),
		Span: 16, Second: 8, LDC: int32(p.LDC), Activation: p.x.Activation, Weights: p.x.Weights}
	if p.x.Activation == SwiGLU {
		l.Span, l.Second = 8, int32(p.width)
	}
	return p.x.lean[leanOf(p.Shape)](s, device.Blocks{X: ceil(p.width, int(l.Span))}, device.View[quad](p.x.A), device.View[quad](p.x.B), p.x.C, p.x.Residual, p.x.Bias, l)
}
