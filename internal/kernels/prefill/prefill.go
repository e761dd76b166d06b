package prefill

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// PageTokens is the number of tokens in a page.
const PageTokens = 64

// MaxDim is the largest number of elements of a query, a key or a value.
const MaxDim = 128

// ErrShape is the error of operands that do not fit a shape, and of shapes that do not exist.
var ErrShape = errors.New("prefill: shape does not fit")

// Shape describes rows of tokens: queries and results are [rows][Heads][Dim], and keys and values [rows][KeyHeads][Dim], or, if Pages is
// not 0, [Pages][KeyHeads][PageTokens][Dim].
type Shape struct {
	Heads           int
	KeyHeads        int  // divides Heads; consecutive heads share the keys and values of one
	Dim             int  // a multiple of 16, and at most MaxDim
	Causal          bool // a query sees only keys of positions up to its own; otherwise it sees all keys up to the last query of its span
	Pages, MaxPages int  // the number of pages, and the maximum for a sequence

	// Apart is the number of elements from a row of Q, K or V to the next, where rows have others between: such as those of a matrix
	// with the queries, keys and values of each token. 0 is for none. There are no pages then. The results have none between.
	Apart int
}

// Operands are the operands of Attend; the results of all spans' rows are overwritten. Spans are in ascending order of Row, also those
// with a Count of 0, and do not overlap. Q may have more rows than they cover.
type Operands[T row.Number] struct {
	Q, K, V, O device.Slice[T]
	// States is [rows][Heads], or empty: it becomes the states of the softmax of spans' queries, which the derivative of attention needs.
	States device.Slice[State]
	Spans  device.Slice[Span]
	// Table is [sequences][MaxPages], or empty if there are no pages: token i of a sequence is in the page whose number is element
	// i/PageTokens of the sequence's row.
	Table device.Slice[int32]
}

// State is the softmax of a query: the weight of a key with a score is 2^(score - Top) / Sum. Scores are multiplied by log2(e) / sqrt(Dim).
type State struct{ Top, Sum float32 }

// Form is a way to compute.
type Form int

// The forms.
const (
	Auto   Form = iota // the fastest one
	Direct             // a thread for each query: any device and element type
	Tiled              // warp products: 16-bit elements from compute capability 8.0 on, in operands that begin at multiples of 16 bytes
)

// String returns the form's name.
func (f Form) String() string { return [...]string{"auto", "direct", "tiled"}[f] }

// Attend computes O = softmax(Q x K^T / sqrt(Dim)) x V for the queries of spans. Queries see the earlier keys of their sequence, and those
// of their span. Attend launches a block for each part of a span that there can be, given the size of Q and the number of spans: spans
// may change between launches of a graph.
//
// A query that sees a key outside K, or a page that does not exist, has a result of NaNs. So has one with a NaN or an infinity, or whose
// score with a key that it sees is none or infinite. A NaN or an infinity in V makes NaNs of the same elements of results, of queries that
// see it, and perhaps of the 127 queries before. Spans with negative numbers are ignored, and so are rows outside Q. The error is ErrShape
// or that of the launch.
func Attend[T row.Number](s *device.Stream, shape Shape, x Operands[T]) error {
	return AttendIn(s, Auto, shape, x)
}

// AttendIn is Attend in a form, for tests and benchmarks. The error is ErrShape if the form does not fit.
func AttendIn[T row.Number](s *device.Stream, f Form, shape Shape, x Operands[T]) error {
	if err := Check(shape, x); err != nil {
		return err
	}
	if shape.Pages == 0 {
		x.Table = device.None[int32]()
	}
	if x.States.Len() == 0 {
		x.States = device.None[State]()
	}
	return job[T]{x, shape.Layout()}.run(s, f)
}

// Check returns ErrShape with an explanation if operands do not have a shape.
func Check[T row.Number](s Shape, x Operands[T]) error {
	if s.Heads < 1 || s.Heads > math.MaxUint16 || s.KeyHeads < 1 || s.Heads%s.KeyHeads != 0 || s.Dim < row.Lanes || s.Dim%row.Lanes != 0 || s.Dim > MaxDim {
		return fmt.Errorf("%w: %+v", ErrShape, s)
	}
	q, k := s.Heads*s.Dim, s.KeyHeads*s.Dim
	if s.Apart != 0 {
		return checkApart(s, x)
	}
	if n := max(x.Q.Len()/q, x.K.Len()/k); x.Q.Len()%q != 0 || x.K.Len()%k != 0 || x.K.Len() == 0 || x.O.Len() != x.Q.Len() || x.V.Len() != x.K.Len() || n > math.MaxInt32 {
		return fmt.Errorf("%w: %+v; Q has %d elements, K %d, V %d, O %d", ErrShape, s, x.Q.Len(), x.K.Len(), x.V.Len(), x.O.Len())
	}
	if n := x.States.Len(); n != 0 && n != x.Q.Len()/s.Dim {
		return fmt.Errorf("%w: %+v; Q has %d elements, States %d", ErrShape, s, x.Q.Len(), n)
	}
	if s.Pages == 0 && s.MaxPages == 0 {
		return nil
	}
	if n := s.Pages * k * PageTokens; s.Pages < 1 || s.Pages > math.MaxInt32 || s.MaxPages < 1 || s.MaxPages > math.MaxInt32 || x.K.Len() != n || x.Table.Len()%s.MaxPages != 0 {
		return fmt.Errorf("%w: %+v; K has %d elements, the table %d", ErrShape, s, x.K.Len(), x.Table.Len())
	}
	return nil
}

// checkApart is Check for rows with others between.
func checkApart[T row.Number](s Shape, x Operands[T]) error {
	q, k := s.Heads*s.Dim, s.KeyHeads*s.Dim
	rows := x.O.Len() / q
	least := func(width int) int { return max(rows-1, 0)*s.Apart + width }
	if s.Pages != 0 || s.Apart < max(q, k) || s.Apart > math.MaxInt32 || rows > math.MaxInt32 || x.O.Len()%q != 0 || x.Q.Len() < least(q) || x.K.Len() < least(k) || x.V.Len() < least(k) || x.States.Len() != 0 && x.States.Len() != rows*s.Heads {
		return fmt.Errorf("%w: %+v; Q has %d elements, K %d, V %d, O %d, States %d", ErrShape, s, x.Q.Len(), x.K.Len(), x.V.Len(), x.O.Len(), x.States.Len())
	}
	return nil
}

// Layout returns the shape for kernels.
func (s Shape) Layout() Layout {
	scale := float32(math.Log2E / math.Sqrt(float64(s.Dim)))
	return Layout{int32(s.Heads), int32(s.KeyHeads), int32(s.Dim), int32(s.Pages), int32(s.MaxPages), int32(s.Apart), s.Causal, scale}
}
