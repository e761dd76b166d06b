package sampling

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Shape is the size of a matrix of logits, a row for each token that is sampled.
type Shape struct{ Rows, Vocabulary int }

// Operands are the operands of sampling. Slices that are marked as optional may be zero.
type Operands struct {
	Logits    device.Slice[float32] // Rows x Vocabulary; overwritten with those after step 2
	Params    device.Slice[Params]  // of each row
	Positions device.Slice[int32]   // of each row: which random number is used. Params.Seed and the position give the same one again
	Work      device.Slice[int32]   // Workspace elements, which are overwritten

	Counts  device.Slice[uint16] // optional: Rows x Vocabulary; the count of the token that is chosen increases
	Mask    device.Slice[uint32] // optional: for each row (Vocabulary + 31) / 32 integers; bit i%32 of integer i/32 allows token i
	Biases  device.Slice[Bias]   // optional, with Offsets: those of all rows, of different tokens in each row
	Offsets device.Slice[int32]  // optional: Rows + 1; the biases of row i are from Offsets[i] to Offsets[i+1]-1

	Tokens   device.Slice[int32]   // the token of each row; -1 if all are excluded
	Logprobs device.Slice[float32] // optional: where Params.Logprobs is true, the logarithm of the token's probability; NaN for -1
}

// ErrShape is the error of operands that do not fit a shape.
var ErrShape = errors.New("sampling: shape does not fit")

// check reports whether operands fit a shape.
func (x Operands) check(s Shape, work int) error {
	n, words := s.Rows*s.Vocabulary, (s.Vocabulary+31)/32
	optional := func(length, want int) bool { return length == 0 || length == want }
	switch {
	case s.Rows < 0 || s.Vocabulary < 0 || s.Vocabulary > math.MaxInt32,
		x.Logits.Len() != n, x.Params.Len() != s.Rows, x.Positions.Len() != s.Rows, x.Tokens.Len() != s.Rows, x.Work.Len() < work,
		!optional(x.Counts.Len(), n), !optional(x.Mask.Len(), s.Rows*words), !optional(x.Offsets.Len(), s.Rows+1), !optional(x.Logprobs.Len(), s.Rows):
		return fmt.Errorf("%w: %d rows of %d; Logits has %d elements, Params %d, Positions %d, Work %d, Counts %d, Mask %d, Offsets %d, Tokens %d, Logprobs %d",
			ErrShape, s.Rows, s.Vocabulary, x.Logits.Len(), x.Params.Len(), x.Positions.Len(), x.Work.Len(), x.Counts.Len(), x.Mask.Len(),
			x.Offsets.Len(), x.Tokens.Len(), x.Logprobs.Len())
	}
	return nil
}

// orNone returns a slice that is nil in a kernel in place of an empty one.
func orNone[T any](s device.Slice[T]) device.Slice[T] {
	if s.Len() == 0 {
		return device.None[T]()
	}
	return s
}

// Workspace returns the length of Operands.Work on a stream's device.
func Workspace(s *device.Stream, shape Shape) int { return workspace(formFor(s), shape) }

// formFor returns the form for a stream's device. GPUs of Vulkan may have too little shared memory for the arena of the Wide form.
func formFor(s *device.Stream) row.Form {
	l := s.Device().Info().Limits
	if max(l.SharedPerBlock, l.SharedDynamic) < int(unsafe.Sizeof(arena{})) {
		return row.Plain
	}
	return row.FormFor(s)
}

func workspace(form row.Form, shape Shape) int {
	if form == row.Wide && shape.Vocabulary <= maxWide {
		return topIntegers * shape.Rows * spans(shape)
	}
	return shape.Rows * shape.Vocabulary
}

// spans returns the number of spans of a row in the Wide form.
func spans(shape Shape) int { return (shape.Vocabulary + spanTokens - 1) / spanTokens }

// Sample chooses a token for each row.
//
// The logarithm of a token's probability is that of the softmax of the row's logits after step 2, without temperature and
// thresholds.
func Sample(s *device.Stream, shape Shape, x Operands) error { return run(s, formFor(s), shape, x) }

// run samples in a form. The Wide form is for vocabularies of fewer than 1<<19 tokens; for others the Plain form runs.
func run(s *device.Stream, form row.Form, shape Shape, x Operands) error {
	if err := x.check(shape, workspace(form, shape)); err != nil || shape.Rows == 0 {
		return err
	}
	x.Logits, x.Work, x.Counts, x.Mask = orNone(x.Logits), orNone(x.Work), orNone(x.Counts), orNone(x.Mask)
	x.Biases, x.Offsets, x.Logprobs = orNone(x.Biases), orNone(x.Offsets), orNone(x.Logprobs)
	if form == row.Wide && shape.Vocabulary <= maxWide {
		return runWide(s, shape, x)
	}
	return Plain(s, device.Blocks{X: shape.Rows}, x.Logits, x.Work, x.Params, x.Positions, x.Counts, x.Mask, x.Biases, x.Offsets,
		x.Tokens, x.Logprobs, uint32(shape.Vocabulary))
}

// runWide samples in the Wide form.
func runWide(s *device.Stream, shape Shape, x Operands) error {
	best := device.None[top]()
	if n := workspace(row.Wide, shape); n > 0 {
		best = device.View[top](x.Work.Slice(0, n))
		if err := Scout(s, device.Blocks{X: shape.Rows, Y: spans(shape)}, x.Logits, best, x.Params, x.Counts, x.Mask, x.Biases, x.Offsets, uint32(shape.Vocabulary)); err != nil {
			return err
		}
	}
	return Wide(s, device.Grid{Blocks: device.Dim{X: shape.Rows}, Block: device.Dim{X: wideThreads}}, x.Logits, device.View[[4]float32](x.Logits), best, x.Params, x.Positions,
		x.Counts, x.Tokens, x.Logprobs, uint32(shape.Vocabulary))
}
