package llama

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/rope"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// attending is the attention of all layers to some tokens.
type attending interface {
	// attend returns the attention of layer i for the residual stream x.
	attend(i int, l *layer, x *tensor.Tensor) *tensor.Tensor
	// rowAdapters returns which adapter of the model's Set each token uses.
	rowAdapters() lora.Rows
}

// attender is the attention to the tokens of a Cache and to some more, which it stores there.
type attender struct {
	cache    *Cache
	tokens   device.Slice[attention.Token]
	angles   device.Slice[float32] // [tokens][Rotary]
	adapters lora.Rows

	// longest is the number of tokens that the longest sequence may have, and single is set if no sequence has two of the tokens and
	// all that the host uploads is there before the first kernel of a graph.
	longest int
	single  bool
	fresh   bool // the key and value of the only token are in the first page of the attention.Compact's Wide

	rows    int                        // the number of first tokens whose attention is not that of spans, if single is not set
	spans   device.Slice[prefill.Span] // of the other tokens, of one sequence after another
	prompts bool                       // the spans are prompts, not single tokens of many sequences
}

// shortest is the mean number of tokens of spans up to which the attention of each is computed as that of a single token.
const shortest = 4

// attender returns the attention to tokens.
func (c *Cache) attender(m *Model, in inputs) (*attender, error) {
	positions := in.positions
	angles := tensor.Op{
		Name: "Angles", In: []*tensor.Tensor{positions}, DType: dtype.Float32, Shape: []int{positions.Len(), m.Rotary},
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
	by, err := tensor.SliceOf[float32](angles)
	if err != nil {
		return nil, err
	}
	at, err := tensor.SliceOf[int32](in.places)
	return &attender{cache: c, tokens: device.View[attention.Token](at), angles: by, spans: in.spans, adapters: in.adapters}, err
}

// attend returns the attention of layer i for the residual stream x.
func (a *attender) attend(i int, l *layer, x *tensor.Tensor) *tensor.Tensor {
	kv := a.cache.layers[i]
	return kv.attend(a, kv.project(a, l, x))
}

func (a *attender) rowAdapters() lora.Rows { return a.adapters }

// pages is the cache of a layer.
type pages interface {
	// project stores the keys and values of tokens, and returns their rotated queries.
	project(a *attender, l *layer, x *tensor.Tensor) *tensor.Tensor
	// attend returns the attention of queries.
	attend(a *attender, q *tensor.Tensor) *tensor.Tensor
}

// typed is a cache for queries of a type.
type typed[T dtype.BF16 | float32] struct {
	kept[T]
	table    device.Slice[int32]
	maxPages int
}

// kept is an attention.Cache or an attention.Compact.
type kept[T attention.Element] interface {
	StoreRotated(*device.Stream, attention.Turn[T]) error
	Attend(*device.Stream, attention.Queries[T]) error
	Prefill(*device.Stream, attention.Chunk[T]) error
	Workspace(tokens, heads int) int
}

// newPages returns a layer of a cache.
func newPages[T dtype.BF16 | float32](c *Cache, shape attention.CacheShape) (pages, error) {
	if c.dtype == dtype.Float8E4M3 {
		return newCompact[T](c, shape)
	}
	x, err := newWide[T](c, shape)
	return typed[T]{x, c.table, shape.MaxPages}, err
}

// newWide returns a layer with elements of the type of activations.
func newWide[T dtype.BF16 | float32](c *Cache, shape attention.CacheShape) (attention.Cache[T], error) {
	keys, err := made[T](c, shape.Elements()) // zeros, since Attend may read whole pages
	if err != nil {
		return attention.Cache[T]{}, err
	}
	values, err := made[T](c, shape.Elements())
	return attention.Cache[T]{CacheShape: shape, Keys: keys, Values: values, Table: c.table}, err
}

// newCompact returns a layer with elements of 8 bits. All layers share the memory for wider ones.
func newCompact[T dtype.BF16 | float32](c *Cache, shape attention.CacheShape) (pages, error) {
	if !attention.Compacts[T](c.stream, shape.Dim) {
		return nil, fmt.Errorf("%w: %v, heads of %d elements, on %s", ErrCacheType, c.dtype, shape.Dim, c.stream.Device().Info().Name)
	}
	x := attention.Compact[T]{CacheShape: shape, Table: c.table}
	var err error
	if first, ok := c.wide.(attention.Cache[T]); ok {
		x.Wide = first
	} else if x.Wide, err = newWide[T](c, shape); err != nil {
		return nil, err
	}
	c.wide = x.Wide
	if x.Keys, err = made[dtype.F8E4M3](c, shape.Elements()); err != nil {
		return nil, err
	}
	if x.Values, err = made[dtype.F8E4M3](c, shape.Elements()); err != nil {
		return nil, err
	}
	x.Scales, err = made[dtype.F16](c, shape.ScalesLen())
	return typed[T]{x, c.table, shape.MaxPages}, err
}

func (p typed[T]) project(a *attender, l *layer, x *tensor.Tensor) *tensor.Tensor {
	plain := l.QNorm == nil && l.adapters.q == nil && l.adapters.k == nil && l.adapters.v == nil
	if plain && !l.banks.qkv.Uses(a.adapters) {
		if q := p.together(a, l, x); q != nil {
			return q
		}
		if all, ok := l.QKV.NormTogether(&l.AttnNorm, x); ok {
			return p.rotate(a, all)
		}
	}
	x = l.AttnNorm.Forward(x)
	if plain {
		if all, ok := l.QKV.Together(x); ok {
			return p.rotate(a, l.banks.qkv.Add(a.adapters, x, all))
		}
	}
	q, k, v := l.project(a.adapters, x)
	return p.rotate(a, q, k, v)
}

// together is project with one kernel for all that precedes the cache. It returns nil if there is none.
func (p typed[T]) together(a *attender, l *layer, x *tensor.Tensor) *tensor.Tensor {
	c := a.cache.config
	if c.Rotary != c.HeadDim || !l.QKV.CanRotate(&l.AttnNorm, x) {
		return nil
	}
	slots := nn.Slots{
		Heads: c.Heads, KeyHeads: c.KeyHeads, HeadDim: c.HeadDim, MaxPages: p.maxPages,
		Place: device.View[int32](a.tokens), Angles: a.angles, Table: p.table,
	}
	switch kept := any(p.kept).(type) {
	case attention.Cache[dtype.BF16]:
		slots.Keys, slots.Values = kept.Keys, kept.Values
		return l.QKV.RotateForward(&l.AttnNorm, x, slots)
	case attention.Compact[dtype.BF16]:
		if !kept.TakesNew(c.Heads) {
			return nil
		}
		first := a.cache.first
		page := attention.PageTokens * c.KeyHeads * c.HeadDim
		slots.MaxPages, slots.Place, slots.Table = 1, first.Slice(0, 2), first.Slice(2, 3)
		slots.Keys, slots.Values = kept.Wide.Keys.Slice(0, page), kept.Wide.Values.Slice(0, page)
		a.fresh = true
		return l.QKV.RotateForward(&l.AttnNorm, x, slots)
	}
	return nil
}

// normed returns rows of heads, each of which is normalized if there is a norm.
func normed(n *nn.RMSNorm, x *tensor.Tensor) *tensor.Tensor {
	if n == nil || x.Err() != nil {
		return x
	}
	return n.Forward(x.Reshape(-1, n.Width)).Reshape(x.Shape()...)
}

// rotate stores the keys and values of queries, keys and values, which are the columns of one tensor, or three tensors.
func (p typed[T]) rotate(a *attender, x ...*tensor.Tensor) *tensor.Tensor {
	c := a.cache.config
	queries, keys := c.Heads*c.HeadDim, c.KeyHeads*c.HeadDim
	return tensor.Op{Name: "Rotate", In: x, DType: x[0].DType(), Shape: []int{a.tokens.Len(), queries}, Launch: func(s *device.Stream, q *tensor.Tensor) error {
		v, err := tensor.SlicesOf[T](append(x, q)...)
		if err != nil {
			return err
		}
		turn := attention.Turn[T]{Heads: c.Heads, Angles: a.angles, Rotary: c.Rotary, Tokens: a.tokens, Rotated: v[len(x)]}
		if len(x) == 1 {
			turn.Q, turn.K, turn.V, turn.Stride = v[0], v[0].Slice(queries, v[0].Len()), v[0].Slice(queries+keys, v[0].Len()), queries+2*keys
		} else {
			turn.Q, turn.K, turn.V = v[0], v[1], v[2]
		}
		return p.StoreRotated(s, turn)
	}}.Apply()
}

func (p typed[T]) attend(a *attender, q *tensor.Tensor) *tensor.Tensor {
	fresh := a.fresh
	a.fresh = false
	return tensor.Op{Name: "Attend", In: []*tensor.Tensor{q}, DType: q.DType(), Shape: q.Shape(), Launch: func(s *device.Stream, out *tensor.Tensor) error {
		v, err := tensor.SlicesOf[T](q, out)
		if err != nil {
			return err
		}
		x := attention.Queries[T]{Heads: a.cache.config.Heads, Q: v[0], O: v[1], Tokens: a.tokens, Context: a.longest, Settled: a.single}
		switch {
		case attention.Transposed(s):
			return p.Attend(s, x)
		case a.prompts:
			if err := p.Prefill(s, attention.Chunk[T]{Heads: x.Heads, Q: x.Q, O: x.O, Tokens: x.Tokens, Spans: a.spans}); err != nil || a.rows == 0 {
				return err
			}
			width := x.Q.Len() / a.tokens.Len()
			x.Q, x.O, x.Tokens = x.Q.Slice(0, a.rows*width), x.O.Slice(0, a.rows*width), x.Tokens.Slice(0, a.rows)
		}
		scratch, err := device.MakeDirty[float32](s, p.Workspace(x.Tokens.Len(), x.Heads))
		if err != nil {
			return err
		}
		defer scratch.Close()
		x.Scratch = scratch.All()
		if compact, ok := any(p.kept).(attention.Compact[T]); ok && fresh {
			return compact.AttendNew(s, x)
		}
		return p.Attend(s, x)
	}}.Apply()
}
