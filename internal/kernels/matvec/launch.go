package matvec

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Form is how a GPU multiplies, with two rows for each warp: the Threads of a block, a multiple of 32, and, unless it is 0, the
// largest number of Blocks, whose warps then multiply several pairs of rows one after the other. The zero Form is the CPU's: it
// uses scratch memory. In the other forms, operands of products begin at multiples of 16 bytes; the error of others is
// device.ErrAlign.
type Form struct{ Threads, Blocks int }

// pair is the number of rows that a warp multiplies at once.
const pair = 2

// Matrix is a matrix of weights in device memory, with its rows one after another, and how to multiply it. Scratch has Workspace
// elements, or none if a GPU multiplies.
type Matrix struct {
	Shape
	W       device.Slice[dtype.BF16]
	Form    Form
	Scratch device.Slice[float32]
}

// Workspace returns the elements of scratch memory that the CPU needs: for a vector and the products.
func (s Shape) Workspace() int { return s.Columns + s.Rows }

// grid returns a grid with a warp for each pair of rows.
func (m Matrix) grid() device.Grid {
	warps := m.Form.Threads / warpSize
	blocks := (m.Rows/pair + warps - 1) / warps
	if most := m.Form.Blocks; most > 0 {
		blocks = min(blocks, most)
	}
	return device.Grid{Blocks: device.Dim{X: blocks}, Block: device.Dim{X: m.Form.Threads}, Shared: m.Columns * 2}
}

// check reports whether the matrix has its shape, and vectors of columns and rows numbers fit.
func (m Matrix) check(columns, rows int) error {
	if m.W.Len() != m.Rows*m.Columns || columns != m.Columns || rows != m.Rows {
		return fmt.Errorf("%w: a matrix of %d x %d, operands of %d, %d and %d", ErrShape, m.Rows, m.Columns, m.W.Len(), columns, rows)
	}
	f := m.Form
	switch {
	case f == Form{} && m.Scratch.Len() != m.Workspace():
		return fmt.Errorf("%w: a matrix of %d x %d, %d elements of scratch memory, not %d", ErrShape, m.Rows, m.Columns, m.Scratch.Len(), m.Workspace())
	case f == Form{}:
		return nil
	case f.Threads < warpSize, f.Threads%warpSize != 0, f.Blocks < 0:
		return fmt.Errorf("%w: no form %+v", ErrShape, f)
	case m.Columns%perQuad != 0, m.Rows%pair != 0:
		return fmt.Errorf("%w: a matrix of %d x %d in the form %+v", ErrShape, m.Rows, m.Columns, f)
	}
	return nil
}

// Norm is a vector that is divided by its root mean square and multiplied by Gain. Epsilon is added to the mean square.
type Norm struct {
	X       device.Slice[float32]
	Gain    device.Slice[dtype.BF16]
	Epsilon float32
}

// columns returns the length of the vector, or -1 if the factors do not fit.
func (n Norm) columns() int {
	if n.Gain.Len() != n.X.Len() {
		return -1
	}
	return n.X.Len()
}

func (n Norm) aligned() bool { return n.X.Aligned(quadBytes) && n.Gain.Aligned(quadBytes) }

// quadBytes is the size of a quad.
const quadBytes = 16

var errUnaligned = fmt.Errorf("matvec: operands must begin at multiples of %d bytes: %w", quadBytes, device.ErrAlign)

func quads(x device.Slice[dtype.BF16]) device.Slice[quad] { return device.View[quad](x) }

// Accumulate adds the product of m and x to y.
func Accumulate(s *device.Stream, m Matrix, x device.Slice[dtype.BF16], y device.Slice[float32]) error {
	if err := m.check(x.Len(), y.Len()); err != nil {
		return err
	}
	if m.Form == (Form{}) {
		if err := WidenPlain(s, device.Cover(x.Len(), 64), x, m.input()); err != nil {
			return err
		}
		products, err := m.plain(s)
		if err != nil {
			return err
		}
		return AddPlain(s, device.Cover(y.Len(), 64), products, y)
	}
	if !m.W.Aligned(quadBytes) || !x.Aligned(quadBytes) || !y.Aligned(quadBytes) {
		return errUnaligned
	}
	return AddProduct(s, m.grid(), quads(m.W), quads(x), y)
}

// GateUp stores SwiGLU of the products of the normalized vector: the first half of the rows is the gate.
func GateUp(s *device.Stream, m Matrix, n Norm, out device.Slice[dtype.BF16]) error {
	if err := m.check(n.columns(), 2*out.Len()); err != nil {
		return err
	}
	if m.Form == (Form{}) {
		y, err := m.plainNormed(s, n)
		if err != nil {
			return err
		}
		return GatePlain(s, device.Cover(out.Len(), 64), y, out)
	}
	if !m.W.Aligned(quadBytes) || !n.aligned() || !out.Aligned(quadBytes) {
		return errUnaligned
	}
	return NormSwiGLU(s, m.grid(), quads(m.W), quads(n.Gain), device.View[numbers](n.X), n.Epsilon, out)
}

// Scores are the results of Logits: the logits, and a Key for each block, of the largest of its logits.
type Scores struct {
	Logits device.Slice[float32]
	Best   device.Slice[uint64]
}

// Blocks returns the number of blocks of Logits.
func (m Matrix) Blocks() int {
	if m.Form == (Form{}) {
		return 1
	}
	return m.grid().Blocks.X
}

// Logits stores the products of the normalized vector.
func Logits(s *device.Stream, m Matrix, n Norm, out Scores) error {
	if err := m.check(n.columns(), out.Logits.Len()); err != nil {
		return err
	}
	if out.Best.Len() != m.Blocks() {
		return fmt.Errorf("%w: %d keys for %d blocks", ErrShape, out.Best.Len(), m.Blocks())
	}
	if m.Form == (Form{}) {
		y, err := m.plainNormed(s, n)
		if err != nil {
			return err
		}
		return errors.Join(device.Copy(s, out.Logits, y), BestPlain(s, device.Blocks{X: 1}, y, out.Best))
	}
	if !m.W.Aligned(quadBytes) || !n.aligned() || !out.Logits.Aligned(quadBytes) || !out.Best.Aligned(quadBytes) {
		return errUnaligned
	}
	return NormLogits(s, m.grid(), quads(m.W), quads(n.Gain), device.View[numbers](n.X), n.Epsilon, out.Logits, out.Best)
}

// Token is what QKV stores of a token: queries of Heads heads of Dim elements in Q, and keys and values of KeyHeads heads in the pages
// of a cache. Table has a row of Pages numbers of pages for each sequence: token i of a sequence is in the row's page i/PageTokens.
// A token without a page in the cache is not stored.
type Token struct {
	Heads, KeyHeads, Dim, Pages int
	At                          device.Slice[Place] // one element
	Table                       device.Slice[int32]
	Angles                      device.Slice[float32] // cosines, then sines, of the pairs of a head
	Bias                        device.Slice[float32] // a number for each row of the matrix, or empty
	Q, K, V                     device.Slice[dtype.BF16]
}

// check reports whether the token's slices have its sizes.
func (to Token) check() error {
	page := to.KeyHeads * PageTokens * to.Dim
	rows := (to.Heads + 2*to.KeyHeads) * to.Dim
	if to.Heads < 1 || to.KeyHeads < 1 || to.Dim < 2 || to.Dim%2 != 0 || to.Pages < 1 || to.At.Len() < 1 || to.Table.Len()%to.Pages != 0 ||
		to.Angles.Len() != to.Dim || to.Bias.Len() != 0 && to.Bias.Len() != rows || to.Q.Len() != to.Heads*to.Dim ||
		to.K.Len() != to.V.Len() || to.K.Len()%page != 0 {
		return fmt.Errorf("%w: %d and %d heads of %d; a table of %d in rows of %d, %d angles, biases of %d, queries of %d, a cache of %d and %d", ErrShape,
			to.Heads, to.KeyHeads, to.Dim, to.Table.Len(), to.Pages, to.Angles.Len(), to.Bias.Len(), to.Q.Len(), to.K.Len(), to.V.Len())
	}
	return nil
}

// QKV stores the rotated queries and keys, and the values, of the normalized vector.
func QKV(s *device.Stream, m Matrix, n Norm, to Token) error {
	if err := m.check(n.columns(), (to.Heads+2*to.KeyHeads)*to.Dim); err != nil {
		return err
	}
	if err := to.check(); err != nil {
		return err
	}
	if to.Bias.Len() == 0 {
		to.Bias = device.None[float32]()
	}
	h := heads{to.Heads, to.KeyHeads, to.Dim / 2, to.Pages}
	if m.Form == (Form{}) {
		y, err := m.plainNormed(s, n)
		if err != nil {
			return err
		}
		return TokenPlain(s, device.Cover(y.Len()/2, 64), y, to.At, to.Table, to.Angles, to.Bias, h, to.Q, to.K, to.V)
	}
	return NormQKV(s, m.grid(), quads(m.W), quads(n.Gain), device.View[numbers](n.X), n.Epsilon, to.At, to.Table, to.Angles, to.Bias, h, to.Q, to.K, to.V)
}
