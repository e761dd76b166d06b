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

// Cache holds keys and values of sequences in pages of PageTokens tokens, as Kwon et al., "Efficient Memory Management for Large
// Language Model Serving with PagedAttention" (2023), describe. Any page may hold tokens of any sequence.
//
// Table has a row of MaxPages numbers of pages for each sequence: token i of a sequence is in the row's page i/PageTokens. The table
// may change between launches of a graph. Attend reads whole pages, also where no token has been stored, so that Keys must have been
// written before, with any numbers.
type Cache[T row.Number] struct {
	CacheShape
	Keys   device.Slice[T]     // [Pages][KeyHeads][Dim][PageTokens]
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
type New[T row.Number] struct {
	K, V   device.Slice[T] // [tokens][KeyHeads][Dim]
	Tokens device.Slice[Token]
}

// Queries are the operands of Attend: a row of queries for each token. Attend overwrites O.
type Queries[T row.Number] struct {
	Heads  int             // a multiple of KeyHeads; consecutive heads share the keys and values of one
	Q, O   device.Slice[T] // [tokens][Heads][Dim]
	Tokens device.Slice[Token]
}

// check returns ErrShape with an explanation if the slices do not have the shape.
func (c Cache[T]) check() error {
	s := c.CacheShape
	if s.Pages < 1 || s.KeyHeads < 1 || s.MaxPages < 1 || s.Dim < row.Lanes || s.Dim%row.Lanes != 0 || s.Dim > MaxDim {
		return fmt.Errorf("attention: cache of %+v: %w", s, ErrShape)
	}
	if c.Keys.Len() != s.Elements() || c.Values.Len() != s.Elements() || c.Table.Len()%s.MaxPages != 0 {
		return fmt.Errorf("attention: cache of %+v with %d keys, %d values and a table of %d: %w", s, c.Keys.Len(), c.Values.Len(), c.Table.Len(), ErrShape)
	}
	return nil
}

// Store stores the keys and values of tokens. Tokens that are outside the table, or whose page is outside the cache, are ignored.
// The error is ErrShape or that of the launch.
func (c Cache[T]) Store(s *device.Stream, x New[T]) error {
	if err := c.check(); err != nil {
		return err
	}
	tokens := x.Tokens.Len()
	if n := tokens * c.KeyHeads * c.Dim; x.K.Len() != n || x.V.Len() != n {
		return fmt.Errorf("attention: %d and %d elements of K and V for %d tokens and %+v: %w", x.K.Len(), x.V.Len(), tokens, c.CacheShape, ErrShape)
	}
	if tokens == 0 {
		return nil
	}
	return c.store(s, device.Blocks{X: tokens, Y: c.KeyHeads}, x)
}

// Attend computes O = softmax(Q x K^T / sqrt(Dim)) x V for each query, with the keys and values of its sequence from position 0 up to
// its own, which must have been stored. A query outside the table has a result of zeros; if a page is outside the cache, the result
// has NaNs. The error is ErrShape or that of the launch.
func (c Cache[T]) Attend(s *device.Stream, x Queries[T]) error {
	if err := c.check(); err != nil {
		return err
	}
	tokens := x.Tokens.Len()
	n := tokens * x.Heads * c.Dim
	if x.Heads < 1 || x.Heads%c.KeyHeads != 0 || x.Q.Len() != n || x.O.Len() != n {
		return fmt.Errorf("attention: %d and %d elements of Q and O for %d tokens of %d heads and %+v: %w", x.Q.Len(), x.O.Len(), tokens, x.Heads, c.CacheShape, ErrShape)
	}
	if tokens == 0 {
		return nil
	}
	return c.attend(s, device.Blocks{X: tokens, Y: x.Heads}, x)
}

//gpu:instance store32 = storeCached[float32]
//gpu:instance storeBF16 = storeCached[dtype.BF16]
//gpu:instance storeF16 = storeCached[dtype.F16]

// store launches storeCached.
func (c Cache[T]) store(s *device.Stream, grid device.Blocks, x New[T]) error {
	switch c := any(c).(type) {
	case Cache[float32]:
		x := any(x).(New[float32])
		return store32(s, grid, x.K, x.V, c.Keys, c.Values, c.Table, x.Tokens, c.CacheShape)
	case Cache[dtype.BF16]:
		x := any(x).(New[dtype.BF16])
		return storeBF16(s, grid, x.K, x.V, c.Keys, c.Values, c.Table, x.Tokens, c.CacheShape)
	case Cache[dtype.F16]:
		x := any(x).(New[dtype.F16])
		return storeF16(s, grid, x.K, x.V, c.Keys, c.Values, c.Table, x.Tokens, c.CacheShape)
	}
	panic("BUG: attention: no such element type")
}

//gpu:instance attend32 = attendCached[float32, row.F32]
//gpu:instance attendBF16 = attendCached[dtype.BF16, row.BF16]
//gpu:instance attendF16 = attendCached[dtype.F16, row.F16]

// attend launches attendCached.
func (c Cache[T]) attend(s *device.Stream, grid device.Blocks, x Queries[T]) error {
	switch c := any(c).(type) {
	case Cache[float32]:
		x := any(x).(Queries[float32])
		return attend32(s, grid, lanes(x.Q), lanes(x.O), lanes(c.Keys), lanes(c.Values), c.Table, x.Tokens, c.CacheShape)
	case Cache[dtype.BF16]:
		x := any(x).(Queries[dtype.BF16])
		return attendBF16(s, grid, lanes(x.Q), lanes(x.O), lanes(c.Keys), lanes(c.Values), c.Table, x.Tokens, c.CacheShape)
	case Cache[dtype.F16]:
		x := any(x).(Queries[dtype.F16])
		return attendF16(s, grid, lanes(x.Q), lanes(x.O), lanes(c.Keys), lanes(c.Values), c.Table, x.Tokens, c.CacheShape)
	}
	panic("BUG: attention: no such element type")
}

// lanes returns a view of 16 elements for each thread of a block.
func lanes[T row.Number](x device.Slice[T]) device.Slice[[row.Lanes]T] {
	return device.View[[row.Lanes]T](x)
}
