package llama

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
	"github.com/gopherwarp/gopherwarp/nn"
)

// Errors of a Cache.
var (
	ErrFull     = errors.New("llama: the cache is full")
	ErrContext  = errors.New("llama: the sequence would be longer than the model's context")
	ErrSequence = errors.New("llama: no such sequence or token")
	// ErrCacheType is the error of NewCache for an element type that the device has no kernels for.
	ErrCacheType = errors.New("llama: no kernels for a cache of this type")
)

// CacheOptions are the options of NewCache.
type CacheOptions struct {
	Sequences int // the largest number of sequences at a time
	Tokens    int // the number of tokens of all sequences together
	// Fixed, unless it is 0, is the largest number of tokens of a sequence. The results for a sequence then do not depend on the other sequences.
	Fixed int
	// DType is the element type of keys and values. The default is the type of the model's activations. dtype.Float8E4M3 takes about half the memory
	// of bfloat16 and is less exact; on a GPU, it needs compute capability 8.0 or higher, and heads of 64 or 128 elements.
	DType dtype.Type
}

// A Cache has the keys and values of sequences of tokens, in pages that any sequence can use. A Cache belongs to one goroutine at a time.
type Cache struct {
	config   Config
	model    *Model
	stream   *device.Stream
	layers   []pages
	close    []func() error
	table    device.Slice[int32]
	list     []row
	pool     pool
	maxPages int
	fixed    int
	dtype    dtype.Type
	wide     any                 // the attention.Cache that layers of Float8E4M3 share
	first    device.Slice[int32] // zeros: a sequence, a position and the number of a page
}

// row is a sequence of a Cache.
type row struct {
	pages    []int32
	uploaded int    // the number of pages that the device's table has
	length   int    // tokens
	kept     int    // the number of pages that the pool has under their tokens
	origin   Origin // of Reuse
}

// CacheTokens returns the number of tokens for which a Cache has memory.
func (c *Config) CacheTokens(o CacheOptions) int {
	n := min(pagesOf(o.Tokens)+max(o.Sequences-1, 0), o.Sequences*pagesOf(c.Context)) // a sequence wastes a part of its last page
	return n * PageTokens
}

// NewCache returns an empty Cache on a stream's device.
func (m *Model) NewCache(s *device.Stream, o CacheOptions) (*Cache, error) {
	maxPages, n := pagesOf(m.Context), m.CacheTokens(o)/PageTokens
	c := &Cache{config: m.Config, model: m, stream: s, list: make([]row, o.Sequences), pool: newPool(n), maxPages: maxPages, fixed: o.Fixed, dtype: m.cacheType(o.DType)}
	if c.dtype != m.params.Activations() && c.dtype != dtype.Float8E4M3 {
		return nil, fmt.Errorf("%w: %v", ErrCacheType, c.dtype)
	}
	var err error
	if c.first, err = made[int32](c, 3); err != nil {
		return nil, err
	}
	if c.table, err = made[int32](c, o.Sequences*maxPages); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	shape := attention.CacheShape{Pages: n, KeyHeads: m.KeyHeads, Dim: m.HeadDim, MaxPages: maxPages}
	for range m.Layers {
		var layer pages
		if m.params.Activations() == dtype.BFloat16 {
			layer, err = newPages[dtype.BF16](c, shape)
		} else {
			layer, err = newPages[float32](c, shape)
		}
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.layers = append(c.layers, layer)
	}
	return c, nil
}

// made returns zeroed memory of the cache.
func made[T any](c *Cache, n int) (device.Slice[T], error) {
	b, err := device.Make[T](c.stream, n)
	if err != nil {
		return device.Slice[T]{}, err
	}
	c.close = append(c.close, b.Close)
	return b.All(), nil
}

// Close frees the memory.
func (c *Cache) Close() error {
	var err error
	for _, f := range c.close {
		err = errors.Join(err, f())
	}
	c.close = nil
	return err
}

// PageTokens is the number of tokens in a page of a Cache.
const PageTokens = attention.PageTokens

// Pages returns the number of all pages, and the number of pages that no sequence has.
func (c *Cache) Pages() (total, free int) { return len(c.pool.pages), c.pool.available() }

// TokenBytes returns the size of the keys and values of a token in bytes, in a Cache whose CacheOptions.DType is elem.
func (m *Model) TokenBytes(elem dtype.Type) int {
	return m.Config.tokenBytes(elem, m.params.Activations())
}

// TokenBytes is like Model.TokenBytes, for a model that is not loaded yet. The model has the Config c and the default LoadOptions.
func TokenBytes(s *device.Stream, c Config, elem dtype.Type) int {
	return c.tokenBytes(elem, nn.NewParams(s, nn.Options{}).Activations())
}

// tokenBytes returns the size of the keys and values of a token, for a type of activations.
func (c *Config) tokenBytes(of, activations dtype.Type) int {
	heads := 2 * c.Layers * c.KeyHeads
	if of != dtype.Float8E4M3 {
		return heads * c.HeadDim * activations.Size()
	}
	const scale = 2 // bytes, for each head
	return heads*(c.HeadDim*of.Size()+scale) + 2*c.KeyHeads*c.HeadDim*activations.Size()
}

// cacheType returns the element type of a Cache that CacheOptions.DType chooses.
func (m *Model) cacheType(of dtype.Type) dtype.Type {
	if of == dtype.Invalid {
		return m.params.Activations()
	}
	return of
}

// DType returns the element type of keys and values.
func (c *Cache) DType() dtype.Type { return c.dtype }

// Len returns the number of tokens of a sequence.
func (c *Cache) Len(sequence int) int { return c.list[sequence].length }

// longest returns the number of tokens of the longest sequence, or that of CacheOptions.Fixed.
func (c *Cache) longest() (n int) {
	if c.fixed > 0 {
		return c.fixed
	}
	for _, r := range c.list {
		n = max(n, r.length)
	}
	return n
}

// Truncate removes the tokens of a sequence from number n on. If other sequences can reuse the page of token n (see Keep), Truncate removes
// the whole page. Len then returns the number of remaining tokens.
func (c *Cache) Truncate(sequence, n int) {
	r := &c.list[sequence]
	if n >= r.length {
		return
	}
	keep := pagesOf(n)
	if keep <= r.kept {
		keep = n / PageTokens
		n = keep * PageTokens
	}
	for i := len(r.pages) - 1; i >= keep; i-- { // a page precedes the one that it follows in the order of eviction
		c.pool.release(r.pages[i])
	}
	r.pages, r.length, r.kept = r.pages[:keep], n, min(r.kept, keep)
	r.uploaded = min(r.uploaded, keep)
}

// pagesOf returns the number of pages for n tokens of a sequence.
func pagesOf(n int) int { return (n + PageTokens - 1) / PageTokens }

// batch is the tokens of a call of Forward.
type batch struct {
	ids, positions []int32
	places         []int32 // sequence and position of each token, as attention.Token
	spans          []int32 // as prefill.Span

	rows, chosen int // the number of first spans that are single tokens, and of those after which a token is chosen
}

// append makes room for spans.
func (c *Cache) append(spans []Span) (batch, error) {
	var b batch
	if err := c.check(spans); err != nil {
		return b, err
	}
	for _, span := range spans {
		b.spans = append(b.spans, int32(len(b.ids)), int32(len(span.Tokens)), int32(c.Len(span.Sequence)), int32(span.Sequence))
		for _, id := range span.Tokens {
			position := c.grow(span.Sequence)
			b.ids, b.positions = append(b.ids, id), append(b.positions, position)
			b.places = append(b.places, int32(span.Sequence), position)
		}
	}
	return b, c.uploadTable()
}

// grow makes room for a token of a sequence and returns its position.
func (c *Cache) grow(sequence int) int32 {
	r := &c.list[sequence]
	position := r.length
	if position%PageTokens == 0 {
		r.pages = append(r.pages, c.pool.take())
	}
	r.length++
	return int32(position)
}

// uploadTable uploads the numbers of new pages.
func (c *Cache) uploadTable() error {
	for i := range c.list {
		r := &c.list[i]
		if r.uploaded == len(r.pages) {
			continue
		}
		to := c.table.Slice(i*c.maxPages+r.uploaded, i*c.maxPages+len(r.pages))
		if err := device.UploadTo(c.stream, to, r.pages[r.uploaded:]); err != nil {
			return err
		}
		r.uploaded = len(r.pages)
	}
	return nil
}

// check returns the error of spans that do not fit.
func (c *Cache) check(spans []Span) error {
	lengths, pages := map[int]int{}, 0
	for _, span := range spans {
		if span.Sequence < 0 || span.Sequence >= len(c.list) {
			return fmt.Errorf("%w: sequence %d of %d", ErrSequence, span.Sequence, len(c.list))
		}
		if i, n := c.list[span.Sequence].origin.Adapter, c.model.adapters.Len(); i < 0 || i > n {
			return fmt.Errorf("%w: sequence %d has number %d of %d", ErrAdapter, span.Sequence, i, n)
		}
		for _, id := range span.Tokens {
			if id < 0 || int(id) >= c.config.Vocabulary {
				return fmt.Errorf("%w: token %d of %d", ErrSequence, id, c.config.Vocabulary)
			}
		}
		n, ok := lengths[span.Sequence]
		if !ok {
			n = c.Len(span.Sequence)
		}
		lengths[span.Sequence] = n + len(span.Tokens)
		if lengths[span.Sequence] > c.config.Context {
			return fmt.Errorf("%w: %d tokens, %d", ErrContext, lengths[span.Sequence], c.config.Context)
		}
		pages += pagesOf(n+len(span.Tokens)) - pagesOf(n)
	}
	if free := c.pool.available(); pages > free {
		return fmt.Errorf("%w: %d more pages of %d tokens, %d are free", ErrFull, pages, PageTokens, free)
	}
	return nil
}
