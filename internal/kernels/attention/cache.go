package attention

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// PageTokens is the number of tokens in a page of a Cache.
const PageTokens = 64

// MaxDim is the largest number of elements of a cached key.
const MaxDim = 128

// Element is an element type of a Cache.
type Element interface{ float32 | dtype.BF16 }

// Cache holds keys and values of sequences in pages of PageTokens tokens, as Kwon et al., "Efficient Memory Management for Large
// Language Model Serving with PagedAttention" (2023), describe. Any page may hold tokens of any sequence.
//
// Table has a row of MaxPages numbers of pages for each sequence: token i of a sequence is in the row's page i/PageTokens. The table
// may change between launches of a graph. On the CPU, Attend reads whole pages, also where no token has been stored, so that Keys must
// have been written before, with any numbers. The order of the keys depends on the device. Slices begin at multiples of 16 bytes.
type Cache[T Element] struct {
	CacheShape
	Keys   device.Slice[T]     // [Pages][KeyHeads][PageTokens][Dim], or [Pages][KeyHeads][Dim][PageTokens] on the CPU
	Values device.Slice[T]     // [Pages][KeyHeads][PageTokens][Dim]
	Table  device.Slice[int32] // [sequences][MaxPages]
}

// CacheShape is the size of a Cache. Dim is a multiple of 16, and at most MaxDim.
type CacheShape struct{ Pages, KeyHeads, Dim, MaxPages int }

// Elements returns the number of elements of Keys, and of Values.
func (s CacheShape) Elements() int { return s.Pages * s.KeyHeads * PageTokens * s.Dim }

// A Token is the place of a query, key or value: its sequence, a row of the table, and its position in the sequence.
type Token struct{ Sequence, Position int32 }

// New are the operands of Store: a row of keys and one of values for each token.
type New[T Element] struct {
	K, V   device.Slice[T] // [tokens][KeyHeads][Dim]
	Tokens device.Slice[Token]
}

// Queries are the operands of Attend: a row of queries for each token. Attend overwrites O.
type Queries[T Element] struct {
	Heads  int             // a multiple of KeyHeads; consecutive heads share the keys and values of one
	Q, O   device.Slice[T] // [tokens][Heads][Dim]
	Tokens device.Slice[Token]

	// Context is the expected length of the longest sequence, 0 for the largest one that the table has entries for. A GPU chooses the
	// number of blocks by it. Results are right for any lengths.
	Context int

	// Scratch has at least the number of elements that Workspace returns, or none. With it, blocks of a GPU share the tokens of a
	// query if there are few queries.
	Scratch device.Slice[float32]

	// Settled promises that no kernel that may still be running writes Tokens, the table, or keys and values of positions before that of
	// a query of their sequence. A kernel may be running unless a copy or the start of this graph came after it. Then Attend reads them
	// before the preceding kernel is done. It holds in a graph that decodes one token of each sequence.
	Settled bool
}

// check returns ErrShape with an explanation if the slices do not have the shape.
func (c Cache[T]) check() error {
	return c.CacheShape.check([...]int{c.Keys.Len(), c.Values.Len(), c.Table.Len()})
}

// check returns ErrShape with an explanation if slices with these numbers of keys, values and pages do not have the shape.
func (s CacheShape) check(lengths [3]int) error {
	if s.Pages < 1 || s.KeyHeads < 1 || s.MaxPages < 1 || s.Dim < row.Lanes || s.Dim%row.Lanes != 0 || s.Dim > MaxDim {
		return fmt.Errorf("attention: cache of %+v: %w", s, ErrShape)
	}
	if lengths[0] != s.Elements() || lengths[1] != s.Elements() || lengths[2]%s.MaxPages != 0 {
		return fmt.Errorf("attention: cache of %+v with %d keys, %d values and a table of %d: %w", s, lengths[0], lengths[1], lengths[2], ErrShape)
	}
	return nil
}

// Store stores the keys and values of tokens. Tokens that are outside the table, or whose page is outside the cache, are ignored.
// The error is ErrShape or that of the launch.
func (c Cache[T]) Store(s *device.Stream, x New[T]) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := takes(c.CacheShape, x); err != nil || x.Tokens.Len() == 0 {
		return err
	}
	return c.store(s, c.formFor(s), x)
}

// takes returns ErrShape with an explanation if keys and values do not fit a cache.
func takes[T Element](s CacheShape, x New[T]) error {
	if n := x.Tokens.Len() * s.KeyHeads * s.Dim; x.K.Len() != n || x.V.Len() != n {
		return fmt.Errorf("attention: %d and %d elements of K and V for %d tokens and %+v: %w", x.K.Len(), x.V.Len(), x.Tokens.Len(), s, ErrShape)
	}
	return nil
}

// Attend computes O = softmax(Q x K^T / sqrt(Dim)) x V for each query, with the keys and values of its sequence from position 0 up to
// its own, which must have been stored. Sums are float32; tensor cores multiply weights that are rounded to elements. A query outside
// the table has a result of zeros; if a page is outside the cache, the result has NaNs. The error is ErrShape or that of the launch.
func (c Cache[T]) Attend(s *device.Stream, x Queries[T]) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := asked(c.CacheShape, x); err != nil || x.Tokens.Len() == 0 {
		return err
	}
	return c.attend(s, c.formFor(s), x)
}

// asked returns ErrShape with an explanation if queries do not fit a cache.
func asked[T Element](s CacheShape, x Queries[T]) error {
	tokens := x.Tokens.Len()
	n := tokens * x.Heads * s.Dim
	if x.Heads < 1 || x.Heads%s.KeyHeads != 0 || x.Q.Len() != n || x.O.Len() != n {
		return fmt.Errorf("attention: %d and %d elements of Q and O for %d tokens of %d heads and %+v: %w", x.Q.Len(), x.O.Len(), tokens, x.Heads, s, ErrShape)
	}
	if n := s.Workspace(tokens, x.Heads); tokens > 0 && x.Scratch.Len() != 0 && x.Scratch.Len() < n {
		return fmt.Errorf("attention: scratch memory of %d elements, not %d: %w", x.Scratch.Len(), n, ErrShape)
	}
	return nil
}
