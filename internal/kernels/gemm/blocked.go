package gemm

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// The tiles of blocked.
const (
	lanes   = 16              // threads of a block, as many as the lanes of AVX-512
	vectors = 2               // of columns of a tile
	across  = lanes * vectors // columns of a tile
	strip   = 8               // rows that are multiplied at a time: strip*vectors sums stay in registers
	tall    = 256             // maximum number of rows of a tile
	deep    = 128             // rows of op(B) that are packed before they are multiplied
	ahead   = 4               // rows of op(B) that are packed between two barriers
)

// operand locates the elements of a matrix: its row r and column c are at r*Row + c*Column.
type operand struct{ Row, Column int }

// walk is the size of a product on the CPU, and the places of its operands.
type walk struct {
	M, N, K       int
	Width         int // columns of C
	Rows, Columns int // of C that a block computes; Rows is a multiple of strip that is at most tall
	Second        int // columns of op(B) from the first vector to the second one
	Activation    Activation
	A             operand
	LDB, LDC      int
}

// packed holds deep rows of a tile of op(B), sums a tile of C.
type (
	packed [deep][vectors][lanes]float32
	sums   [tall][vectors][lanes]float32
)

// blocked computes Rows x across elements of C in a block of which each thread has a column of each vector. It packs deep rows of
// op(B) in shared memory, where they are contiguous and stay in the first-level cache while all rows of op(A) are multiplied by them
// (Goto, van de Geijn, "Anatomy of High-Performance Matrix Multiplication"). A thread reads no element that another one has packed:
// the barriers only separate checks from preceding stores, without which there would be no vector code.
//
//gpu:kernel
//gpu:block 16
func blocked[T number, F format[T], O order](t gpu.Thread, a []float32, b []T, c, residual, bias []float32, s walk) {
	right, acc := gpu.Shared[packed](t), gpu.Shared[sums](t)
	lane := t.ThreadX()
	col0, row0 := t.BlockX()*s.Columns, t.BlockY()*s.Rows
	rows := min(s.Rows, s.M-row0, tall)
	for r := range tall {
		for v := range vectors {
			acc[r][v][lane] = 0
		}
	}
	for k0 := 0; k0 < s.K; k0 += deep {
		depth := min(deep, s.K-k0)
		for k := 0; k < depth; k += ahead {
			pack[T, F, O](t, b, right, spot{s, position{col: col0 + lane, k: k0 + k, strip: k}})
			t.Sync()
		}
		for r := 0; r < rows; r += strip {
			acc.multiplyStrip(t, a, right, spot{s, position{row: row0 + r, k: k0, depth: depth, strip: r}})
			t.Sync()
		}
	}
	for i := range rows * vectors {
		if r, v := i/vectors&(tall-1), i&(vectors-1); v == 0 || s.Activation != SwiGLU {
			store(operands{c, residual, bias}, [2]float32{acc[r][v][lane], acc[r][vectors-1][lane]}, position{row: row0 + r, col: col0 + v*s.Second + lane}, s)
			t.Sync()
		}
	}
}

// operands are where results go, and what is added to them.
type operands struct{ c, residual, bias []float32 }

// position is a position in C and K, with the number of its strip's first row in the tile,
type position struct{ row, col, k, depth, strip int }

// spot is a position in a product.
type spot struct {
	walk
	position
}

// pack copies an element of ahead rows of op(B) for each vector. Elements outside op(B) have no influence on C.
func pack[T number, F format[T], O order](t gpu.Thread, b []T, right *packed, p spot) {
	s := p.walk
	var f F
	var o O
	var x [ahead][vectors]float32
	for v := range vectors {
		if col := p.col + v*s.Second; col < s.N {
			for i := range ahead {
				x[i][v] = f.wide(b[o.index(min(p.k+i, s.K-1), col, s.LDB)])
			}
		}
	}
	for i := range ahead {
		for v := range vectors {
			right[(p.strip+i)&(deep-1)][v][t.ThreadX()] = x[i][v]
		}
	}
}

// multiplyStrip adds the products of strip rows of op(A) and of the packed rows of op(B) to acc. The last row of op(A) stands for
// rows beyond it.
func (acc *sums) multiplyStrip(t gpu.Thread, a []float32, right *packed, p spot) {
	s := p.walk
	var from [strip]int
	for i := range strip {
		from[i] = min(p.row+i, s.M-1)*s.A.Row + p.k*s.A.Column
	}
	var x [strip][vectors]float32
	for k := range p.depth {
		for i := range strip {
			y := a[from[i]+k*s.A.Column]
			for v := range vectors {
				x[i][v] = math32.FMA(y, right[k&(deep-1)][v][t.ThreadX()], x[i][v])
			}
		}
	}
	for i := range strip {
		for v := range vectors {
			acc[(p.strip+i)&(tall-1)][v][t.ThreadX()] += x[i][v]
		}
	}
}

// store finishes and stores an element of C, given its sum and, for SwiGLU, the one that it is multiplied by.
func store(o operands, sums [2]float32, p position, s walk) {
	if p.col >= s.Width {
		return
	}
	x := activate(sums[0]+at(o.bias, p.col), s.Activation)
	if s.Activation == SwiGLU {
		x *= sums[1] + at(o.bias, p.col+s.Second)
	}
	to := p.row*s.LDC + p.col
	if len(o.residual) > 0 {
		x += o.residual[to]
	}
	o.c[to] = x
}
