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

// runner computes a row of numbers for each text of a batch. On a GPU, it records graphs.
type runner struct {
	model   *Model
	stream  *device.Stream
	width   int // of a row
	compute func(b *Batch) *tensor.Tensor
	graphs  map[size]*tensor.Graph
}

const (
	graphTokens = 2048 // of a batch for which there is a graph: the kernels of larger ones take longer than the host
	mostGraphs  = 64
	leastTokens = 32 // of a graph
)

// newRunner returns a runner without graphs.
func newRunner(s *device.Stream, m *Model, width int, compute func(b *Batch) *tensor.Tensor) runner {
	return runner{model: m, stream: s, width: width, compute: compute, graphs: map[size]*tensor.Graph{}}
}

// close frees the graphs.
func (r *runner) close() error {
	var errs []error
	for _, g := range r.graphs {
		errs = append(errs, g.Close())
	}
	clear(r.graphs)
	return errors.Join(errs...)
}

// run returns the rows of texts.
func (r *runner) run(ctx context.Context, texts []Pair) (list [][]float32, err error) {
	z, err := r.model.sizeOf(texts)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	g, z, err := r.graph(ctx, z)
	if err != nil {
		return nil, err
	}
	err = tensor.RunOn(ctx, r.stream, func(s *tensor.Scope) error {
		numbers := z.numbers(r.model.Shift, texts)
		in := tensor.From(s, numbers, len(numbers))
		var out *tensor.Tensor
		if g != nil {
			out = g.Launch(s, in)[0]
		} else {
			out = r.compute(r.model.batchOf(z, in))
		}
		values, err := tensor.Values[float32](ctx, out)
		list = slices.Collect(slices.Chunk(values, r.width))
		return err
	})
	return list[:min(len(list), len(texts))], err
}

// graph returns the graph for a batch with the batch's size in it, or no graph and the size.
func (r *runner) graph(ctx context.Context, z size) (*tensor.Graph, size, error) {
	of := z.bucket()
	if row.FormFor(r.stream) == row.Plain || of.rows > graphTokens {
		return nil, z, nil
	}
	if g := r.graphs[of]; g != nil {
		return g, of, nil
	}
	if len(r.graphs) == mostGraphs {
		return nil, z, nil
	}
	g, err := tensor.Capture(ctx, r.stream, func(_ *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{r.compute(r.model.batchOf(of, in[0]))}
	}, tensor.Spec{DType: dtype.Int32, Shape: []int{of.length()}})
	if err != nil {
		return nil, z, err
	}
	r.graphs[of] = g
	return g, of, nil
}

// bucket returns the size of the graph for a batch: a power of two of texts, and tokens in steps of at most a third.
func (z size) bucket() size {
	texts := 1 << bits.Len(uint(z.texts-1))
	step := max(leastTokens, 1<<bits.Len(uint(z.rows-1))/4)
	return size{texts, (z.rows + step - 1) / step * step}
}
