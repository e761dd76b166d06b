package bert

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// An Encoder computes the vectors of texts. On a GPU, it records a graph for each size of small batches, so that the host does not enqueue
// each operation. An Encoder belongs to one goroutine at a time.
type Encoder struct {
	model  *Model
	stream *device.Stream
	pool   Pooling
	graphs map[size]*tensor.Graph
}

// Pooling defines how a vector is computed from the activations of a text's tokens: see Batch.Pool.
type Pooling struct {
	Method Method
	Unit   bool
}

const (
	graphTokens = 2048 // of a batch for which there is a graph: the kernels of larger ones take longer than the host
	mostGraphs  = 64
	leastTokens = 32 // of a graph
)

// NewEncoder returns an Encoder that uses the given stream.
func NewEncoder(s *device.Stream, m *Model, p Pooling) *Encoder {
	return &Encoder{model: m, stream: s, pool: p, graphs: map[size]*tensor.Graph{}}
}

// Close frees the graphs.
func (e *Encoder) Close() error {
	var errs []error
	for _, g := range e.graphs {
		errs = append(errs, g.Close())
	}
	clear(e.graphs)
	return errors.Join(errs...)
}

// Vectors returns a vector for each text, given as its tokens. The errors are those of NewBatch and of the device.
func (e *Encoder) Vectors(ctx context.Context, texts ...[]int32) (list [][]float32, err error) {
	z, err := e.model.sizeOf(texts)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	g, z, err := e.graph(ctx, z)
	if err != nil {
		return nil, err
	}
	err = tensor.RunOn(ctx, e.stream, func(s *tensor.Scope) error {
		numbers := z.numbers(texts)
		in := tensor.From(s, numbers, len(numbers))
		var out *tensor.Tensor
		if g != nil {
			out = g.Launch(s, in)[0]
		} else {
			out = e.forward(z, in)
		}
		values, err := tensor.Values[float32](ctx, out)
		list = slices.Collect(slices.Chunk(values, e.model.Hidden))
		return err
	})
	return list[:min(len(list), len(texts))], err
}

// forward returns the vectors of a batch.
func (e *Encoder) forward(z size, numbers *tensor.Tensor) *tensor.Tensor {
	b := e.model.batchOf(z, numbers)
	return b.Pool(e.model.Forward(b), e.pool.Method, e.pool.Unit)
}

// graph returns the graph for a batch with the batch's size in it, or no graph and the size.
func (e *Encoder) graph(ctx context.Context, z size) (*tensor.Graph, size, error) {
	of := z.bucket()
	if row.FormFor(e.stream) == row.Plain || of.rows > graphTokens {
		return nil, z, nil
	}
	if g := e.graphs[of]; g != nil {
		return g, of, nil
	}
	if len(e.graphs) == mostGraphs {
		return nil, z, nil
	}
	g, err := tensor.Capture(ctx, e.stream, func(_ *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{e.forward(of, in[0])}
	}, tensor.Spec{DType: dtype.Int32, Shape: []int{of.length()}})
	if err != nil {
		return nil, z, err
	}
	e.graphs[of] = g
	return g, of, nil
}

// bucket returns the size of the graph for a batch: a power of two of texts, and tokens in steps of at most a third.
func (z size) bucket() size {
	texts := 1 << bits.Len(uint(z.texts-1))
	step := max(leastTokens, 1<<bits.Len(uint(z.rows-1))/4)
	return size{texts, (z.rows + step - 1) / step * step}
}
