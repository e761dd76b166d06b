package lora

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/lora"
)

// SetOptions are the options of NewSet.
type SetOptions struct {
	Adapters int        // the number of adapters
	Rank     int        // the largest rank of an adapter
	DType    dtype.Type // the type of activations and matrices: dtype.Float32 or dtype.BFloat16
}

// A Set has several adapters of a model. Each row of a batch uses one of them, or none. For each layer, the Set has the matrices of all
// adapters in one array, padded to the largest rank (Chen et al., "Punica: Multi-Tenant LoRA Serving").
type Set struct {
	SetOptions
	stream *device.Stream
	places map[string]place
	close  []func() error
	bytes  int64
}

// place is where the matrices of a layer are.
type place struct {
	*Bank
	part int
}

// most is the largest rank of an adapter.
const most = 1 << 16

// NewSet returns a Set without matrices. Its memory is on the stream's device. The error matches ErrOptions.
func NewSet(s *device.Stream, o SetOptions) (*Set, error) {
	if o.Adapters < 1 || o.Rank < 1 || o.Rank > most || o.DType != dtype.Float32 && o.DType != dtype.BFloat16 {
		return nil, fmt.Errorf("%w: %d adapters of rank %d with elements of %v", ErrOptions, o.Adapters, o.Rank, o.DType)
	}
	o.Rank = (o.Rank + 7) / 8 * 8 // as kernels require
	return &Set{SetOptions: o, stream: s, places: map[string]place{}}, nil
}

// Len returns the number of adapters. For a nil Set, it is 0.
func (x *Set) Len() int {
	if x == nil {
		return 0
	}
	return x.Adapters
}

// Bytes returns the size of the matrices on the device in bytes.
func (x *Set) Bytes() int64 { return x.bytes }

// Close frees the memory.
func (x *Set) Close() error {
	var err error
	for _, f := range x.close {
		err = errors.Join(err, f())
	}
	x.close = nil
	return err
}

// Bank returns the matrices of one to three linear layers with the same input, such as queries, keys and values. Before Put, the Bank has
// no matrices.
func (x *Set) Bank(layers ...Linear) *Bank {
	b := &Bank{set: x, shape: lora.Shape{Adapters: x.Adapters, Rank: x.Rank, Columns: layers[0].In}}
	for i, l := range layers {
		b.shape.Parts = append(b.shape.Parts, l.Out)
		x.places[l.Name] = place{b, i}
	}
	return b
}

// Put uploads the matrices of an adapter, as Read returns them, and makes them the adapter with number i, counted from 0. Call Put before capturing a
// graph that uses a Bank of the Set. The error matches ErrOptions, ErrModule or, for an adapter with DoRA, ErrFormat.
func (x *Set) Put(i int, o Options, list []Matrices) error {
	if i < 0 || i >= x.Adapters || o.Rank > x.Rank {
		return fmt.Errorf("%w: adapter %d of rank %d in a set of %d of rank %d", ErrOptions, i, o.Rank, x.Adapters, x.Rank)
	}
	if o.DoRA {
		return fmt.Errorf("%w: several adapters at once cannot have DoRA; use it alone, or merge it into the model", ErrFormat)
	}
	by := map[string]Matrices{}
	for _, m := range list {
		p, ok := x.places[m.Name]
		if !ok || m.In != p.shape.Columns || m.Out != p.shape.Parts[p.part] {
			return fmt.Errorf("%w: %s of %d x %d", ErrModule, m.Name, m.Out, m.In)
		}
		by[m.Name] = m
	}
	for name, p := range x.places {
		m, has := by[name]
		if !has && p.matrices == nil {
			continue
		}
		if err := p.put(i, o, m); err != nil {
			return err
		}
	}
	return nil
}

// put uploads the matrices of a layer, or zeros if there are none.
func (p place) put(i int, o Options, m Matrices) error {
	if p.matrices == nil {
		if err := p.allocate(); err != nil {
			return err
		}
	}
	rank, n, out := p.shape.Rank, p.shape.Columns, p.shape.Parts[p.part]
	a, b := make([]float32, rank*n), make([]float32, out*rank)
	if m.A != nil {
		copy(a, m.A)
		scale := float32(o.Scale())
		for row := range out {
			for k := range o.Rank {
				b[row*rank+k] = scale * m.B[row*o.Rank+k]
			}
		}
	}
	first := 0
	for _, c := range p.shape.Parts[:p.part] {
		first += c
	}
	return errors.Join(
		p.matrices.putA((i*len(p.shape.Parts)+p.part)*len(a), a, rank),
		p.matrices.putB((i*p.results()+first)*rank, b, out))
}
