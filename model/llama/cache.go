package llama

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
	"github.com/gopherwarp/gopherwarp/internal/kernels/rope"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Errors of a Cache.
var (
	ErrFull     = errors.New("llama: the cache is full")
	ErrContext  = errors.New("llama: the sequence would be longer than the model's context")
	ErrSequence = errors.New("llama: no such sequence or token")
)

// CacheOptions are the size of a Cache.
type CacheOptions struct {
	Sequences int // that it can hold at a time
	Tokens    int // of all sequences together
}

// A Cache has the keys and values of sequences of tokens, in pages that any sequence can use. It belongs to one goroutine at a time.
type Cache struct {
	config   Config
	stream   *device.Stream
	layers   []attention.Cache[float32]
	memory   []*device.Buffer[float32]
	table    *device.Buffer[int32]
	rows     [][]int32 // the pages of each sequence
	lengths  []int     // the number of tokens of each sequence
	free     []int32   // pages
	maxPages int
}

// NewCache returns an empty Cache on a stream's device.
func (m *Model) NewCache(s *device.Stream, o CacheOptions) (*Cache, error) {
	maxPages := pagesOf(m.Context)
	pages := min(pagesOf(o.Tokens)+max(o.Sequences-1, 0), o.Sequences*maxPages) // a sequence wastes a part of its last page
	c := &Cache{config: m.Config, stream: s, rows: make([][]int32, o.Sequences), lengths: make([]int, o.Sequences), maxPages: maxPages}
	for i := range pages {
		c.free = append(c.free, int32(pages-1-i))
	}
	shape := attention.CacheShape{Pages: pages, KeyHeads: m.KeyHeads, Dim: m.HeadDim, MaxPages: maxPages}
	var err error
	if c.table, err = device.Make[int32](s, o.Sequences*maxPages); err != nil {
		return nil, err
	}
	for range m.Layers {
		var list [2]device.Slice[float32]
		for i := range list {
			b, err := device.Make[float32](s, shape.Elements()) // Attend reads whole pages
			if err != nil {
				return nil, errors.Join(err, c.Close())
			}
			c.memory = append(c.memory, b)
			list[i] = b.All()
		}
		c.layers = append(c.layers, attention.Cache[float32]{CacheShape: shape, Keys: list[0], Values: list[1], Table: c.table.All()})
	}
	return c, nil
}

// Close frees the memory.
func (c *Cache) Close() error {
	err := c.table.Close()
	for _, b := range c.memory {
		err = errors.Join(err, b.Close())
	}
	c.memory = nil
	return err
}

// Len returns the number of tokens of a sequence.
func (c *Cache) Len(sequence int) int { return c.lengths[sequence] }

// Truncate removes the tokens of a sequence from number n on. Their pages can be used by other sequences.
func (c *Cache) Truncate(sequence, n int) {
	if n >= c.lengths[sequence] {
		return
	}
	keep := pagesOf(n)
	c.free = append(c.free, c.rows[sequence][keep:]...)
	c.rows[sequence], c.lengths[sequence] = c.rows[sequence][:keep], n
}

// pagesOf returns the number of pages for n tokens of a sequence.
func pagesOf(n int) int { return (n + attention.PageTokens - 1) / attention.PageTokens }

// batch is the tokens of a call of Forward.
type batch struct {
	ids, positions []int32
	places         []int32 // sequence and position of each token, as attention.Token
}

// append makes room for spans.
func (c *Cache) append(spans []Span) (batch, error) {
	var b batch
	if err := c.check(spans); err != nil {
		return b, err
	}
	for _, span := range spans {
		for _, id := range span.Tokens {
			position := c.lengths[span.Sequence]
			if position%attention.PageTokens == 0 {
				last := len(c.free) - 1
				c.rows[span.Sequence] = append(c.rows[span.Sequence], c.free[last])
				c.free = c.free[:last]
			}
			c.lengths[span.Sequence]++
			b.ids, b.positions = append(b.ids, id), append(b.positions, int32(position))
			b.places = append(b.places, int32(span.Sequence), int32(position))
		}
	}
	return b, nil
}

// check returns the error of spans that do not fit.
func (c *Cache) check(spans []Span) error {
	lengths, pages := map[int]int{}, 0
	for _, span := range spans {
		if span.Sequence < 0 || span.Sequence >= len(c.lengths) {
			return fmt.Errorf("%w: sequence %d of %d", ErrSequence, span.Sequence, len(c.lengths))
		}
		for _, id := range span.Tokens {
			if id < 0 || int(id) >= c.config.Vocabulary {
				return fmt.Errorf("%w: token %d of %d", ErrSequence, id, c.config.Vocabulary)
			}
		}
		n, ok := lengths[span.Sequence]
		if !ok {
			n = c.lengths[span.Sequence]
		}
		lengths[span.Sequence] = n + len(span.Tokens)
		if lengths[span.Sequence] > c.config.Context {
			return fmt.Errorf("%w: %d tokens, %d", ErrContext, lengths[span.Sequence], c.config.Context)
		}
		pages += pagesOf(n+len(span.Tokens)) - pagesOf(n)
	}
	if pages > len(c.free) {
		return fmt.Errorf("%w: %d more pages of %d tokens, %d are free", ErrFull, pages, attention.PageTokens, len(c.free))
	}
	return nil
}

// attender is the attention of all layers in a call of Forward.
type attender struct {
	cache  *Cache
	tokens device.Slice[attention.Token]
	angles *tensor.Tensor // [tokens][Rotary]
}

// attender uploads what the layers need.
func (c *Cache) attender(s *tensor.Scope, m *Model, b batch) (*attender, error) {
	table := make([]int32, len(c.rows)*c.maxPages)
	for i, row := range c.rows {
		copy(table[i*c.maxPages:], row)
	}
	if err := device.UploadTo(s.Stream(), c.table.All(), table); err != nil {
		return nil, err
	}
	places, err := tensor.SliceOf[int32](tensor.From(s, b.places, len(b.places)))
	if err != nil {
		return nil, err
	}
	positions := tensor.From(s, b.positions, len(b.positions))
	angles := tensor.Op{
		Name: "Angles", In: []*tensor.Tensor{positions}, DType: dtype.Float32, Shape: []int{len(b.ids), m.Rotary},
		Launch: func(stream *device.Stream, out *tensor.Tensor) error {
			p, err := tensor.SliceOf[int32](positions)
			if err != nil {
				return err
			}
			to, err := tensor.SliceOf[float32](out)
			if err != nil {
				return err
			}
			return rope.Angles(stream, p, m.rotation.All(), to)
		},
	}.Apply()
	return &attender{cache: c, tokens: device.View[attention.Token](places), angles: angles}, nil
}

// layer returns the attention of a layer.
func (a *attender) layer(i int) layerAttender { return layerAttender{a, a.cache.layers[i]} }

// layerAttender is the attention of a layer.
type layerAttender struct {
	*attender
	kv attention.Cache[float32]
}

// Attend implements nn.Attender. It rotates q and k in place.
func (a layerAttender) Attend(q, k, v *tensor.Tensor) *tensor.Tensor {
	return tensor.Op{Name: "Attend", In: []*tensor.Tensor{q, k, v, a.angles}, DType: q.DType(), Shape: q.Shape(), Launch: func(s *device.Stream, out *tensor.Tensor) error {
		x, err := tensor.SlicesOf[float32](q, k, v, a.angles, out)
		if err != nil {
			return err
		}
		c := a.cache.config
		turn := rope.Shape{Tokens: a.tokens.Len(), Heads: c.Heads, Dim: c.HeadDim, Rotary: c.Rotary}
		if err := rope.Rotate(s, turn, x[0], x[3]); err != nil {
			return err
		}
		turn.Heads = c.KeyHeads
		if err := rope.Rotate(s, turn, x[1], x[3]); err != nil {
			return err
		}
		if err := a.kv.Store(s, attention.New[float32]{K: x[1], V: x[2], Tokens: a.tokens}); err != nil {
			return err
		}
		return a.kv.Attend(s, attention.Queries[float32]{Heads: c.Heads, Q: x[0], O: x[4], Tokens: a.tokens})
	}}.Apply()
}
