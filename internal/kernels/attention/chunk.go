package attention

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
)

// Chunk are the operands of Prefill: a row of queries for each token. The tokens are the last ones of their sequences, which Spans
// describe as well, with the sequence's row of the table as Keys.
type Chunk[T Element] struct {
	Heads  int             // a multiple of KeyHeads; consecutive heads share the keys and values of one
	Q, O   device.Slice[T] // [tokens][Heads][Dim]
	Tokens device.Slice[Token]
	Spans  device.Slice[prefill.Span]
}

// Prefill computes what Attend computes, and is faster for many consecutive tokens of sequences: on GPUs, up to 128 queries of a head read
// its keys and values together. NaNs are as of prefill.Attend on GPUs. The error is ErrShape or that of the launch.
func (c Cache[T]) Prefill(s *device.Stream, x Chunk[T]) error {
	if err := c.check(); err != nil {
		return err
	}
	if Transposed(s) { // keys are transposed
		return c.Attend(s, Queries[T]{Heads: x.Heads, Q: x.Q, O: x.O, Tokens: x.Tokens})
	}
	shape := prefill.Shape{Heads: x.Heads, KeyHeads: c.KeyHeads, Dim: c.Dim, Causal: true, Pages: c.Pages, MaxPages: c.MaxPages}
	err := Prefill(s, shape, prefill.Operands[T]{Q: x.Q, K: c.Keys, V: c.Values, O: x.O, Spans: x.Spans, Table: c.Table})
	if errors.Is(err, prefill.ErrShape) {
		return fmt.Errorf("attention: %w: %w", ErrShape, err)
	}
	return err
}

// The cache's pages are those of package prefill.
var _ [PageTokens]struct{} = [prefill.PageTokens]struct{}{}
