package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/weights/blocks/blockstest"
)

// bench is the layers of a shape, and vectors.
type bench struct {
	options
	s       *device.Stream
	shape   quant.Shape
	layers  []quant.Matrix
	x, y    device.Slice[float32]
	half    device.Slice[dtype.BF16]
	xs      map[string][]float32 // by element type
	buffers []io.Closer
	sampled []int32   // rows of the matrix
	weights []float32 // of these rows
}

const (
	mostVectors = 16
	samples     = 64 // rows of the results that are checked
)

// keep notes a buffer to close.
func keep[T any](b *bench, x *device.Buffer[T], err error) (device.Slice[T], error) {
	if err != nil {
		return device.Slice[T]{}, err
	}
	b.buffers = append(b.buffers, x)
	return x.All(), nil
}

func (b *bench) close() {
	for _, c := range b.buffers {
		c.Close()
	}
}

// newBench makes layers, all with the same random weights.
func newBench(s *device.Stream, o options, m matrix) (*bench, error) {
	f, shape := m.format, m.Shape
	b := &bench{options: o, s: s, shape: shape}
	r := rand.New(rand.NewPCG(uint64(shape.Rows), uint64(shape.Columns)))
	var data []byte
	for range shape.Rows * shape.Columns / f.elements {
		data = append(data, blockstest.Random(r, f.name, 1./16)...)
	}
	p, err := quant.Pack(f.of, data, shape)
	if err != nil {
		return b, err
	}
	for range o.layers {
		if err := b.addLayer(p); err != nil {
			return b, err
		}
	}
	return b, b.prepare(r)
}

// addLayer adds a layer with the weights: a copy of the first layer, if there is one.
func (b *bench) addLayer(p *quant.Packed) error {
	m := quant.Matrix{Shape: p.Shape, Format: p.Format}
	var first quant.Matrix
	if len(b.layers) > 0 {
		first = b.layers[0]
	}
	var err [4]error
	m.Planes, err[0] = another(b, p.Planes, first.Planes)
	m.Scales, err[1] = another(b, p.Scales, first.Scales)
	if len(p.Minima) > 0 {
		m.Minima, err[2] = another(b, p.Minima, first.Minima)
	}
	if len(p.Groups) > 0 {
		m.Groups, err[3] = another(b, p.Groups, first.Groups)
	}
	b.layers = append(b.layers, m)
	return errors.Join(err[:]...)
}

// another returns a copy of from in device memory, or of host if from has no elements.
func another[T any](b *bench, host []T, from device.Slice[T]) (device.Slice[T], error) {
	if from.Len() == 0 {
		return upload(b, host)
	}
	x, err := device.MakeDirty[T](b.s, from.Len())
	if err != nil {
		return device.Slice[T]{}, err
	}
	return keep(b, x, device.Copy(b.s, x.All(), from))
}

// upload returns a copy of host in device memory.
func upload[T any](b *bench, host []T) (device.Slice[T], error) {
	x, err := device.Upload(b.s, host)
	return keep(b, x, err)
}

// prepare makes vectors and reads the rows of the matrix whose results are checked.
func (b *bench) prepare(r *rand.Rand) (err error) {
	xs, half := make([]float32, mostVectors*b.shape.Columns), make([]dtype.BF16, mostVectors*b.shape.Columns)
	b.xs = map[string][]float32{"float32": xs, "bfloat16": make([]float32, len(xs))}
	for i := range xs {
		xs[i] = float32(r.NormFloat64())
		half[i] = dtype.BF16From32(xs[i])
		b.xs["bfloat16"][i] = half[i].Float32()
	}
	for range samples {
		b.sampled = append(b.sampled, r.Int32N(int32(b.shape.Rows)))
	}
	if b.x, err = upload(b, xs); err != nil {
		return err
	}
	if b.half, err = upload(b, half); err != nil {
		return err
	}
	if b.y, err = upload(b, make([]float32, mostVectors*b.shape.Rows)); err != nil {
		return err
	}
	rows, err := upload(b, b.sampled)
	if err != nil {
		return err
	}
	b.weights = make([]float32, samples*b.shape.Columns)
	gathered, err := upload(b, b.weights)
	if err != nil {
		return err
	}
	return errors.Join(quant.Gather(b.s, b.layers[0], rows, gathered), device.Download(b.s, b.weights, gathered), b.s.Synchronize(context.Background()))
}

// measure returns the median time of a product, after a check of the result.
func (b *bench) measure(p product) (time.Duration, error) {
	n := p.rows * b.shape.Columns
	switch p.elements {
	case "float32":
		return measure(b, p, b.x.Slice(0, n))
	case "bfloat16":
		return measure(b, p, b.half.Slice(0, n))
	}
	return 0, fmt.Errorf("no element type %q", p.elements)
}

// measure measures the product of x.
func measure[X quant.Element](b *bench, p product, from device.Slice[X]) (time.Duration, error) {
	x := quant.Operands[X, float32]{Rows: p.rows, X: from, Y: b.y.Slice(0, p.rows*b.shape.Rows)}
	work, err := device.MakeDirty[float32](b.s, max(quant.Workspace[X, float32](b.s.Device(), b.layers[0], p.rows), 2*p.rows*b.shape.Rows))
	if err != nil {
		return 0, err
	}
	defer work.Close()
	x.Workspace = work.All()
	if err := errors.Join(device.Fill(b.s, b.y, float32(math.NaN())), multiply(b.s, p.form, b.layers[0], x), b.check(b.xs[p.elements][:from.Len()], x.Y)); err != nil {
		return 0, err
	}
	g, err := b.s.Device().Capture(func(s *device.Stream) error {
		for range b.repeats {
			for _, m := range b.layers {
				if err := multiply(s, p.form, m, x); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer g.Close()
	took, err := b.median(g)
	return took / time.Duration(b.repeats*len(b.layers)), err
}

// multiply multiplies in a form, or as Multiply chooses.
func multiply[X quant.Element](s *device.Stream, form quant.Form, m quant.Matrix, x quant.Operands[X, float32]) error {
	if form == (quant.Form{}) {
		return quant.Multiply(s, m, x)
	}
	return quant.MultiplyIn(s, form, m, x)
}

// median returns the median time of a launch of the graph.
func (b *bench) median(g *device.Graph) (time.Duration, error) {
	times := make([]time.Duration, b.launches)
	if err := g.Launch(b.s); err != nil {
		return 0, err
	}
	for i := range times {
		var err error
		if times[i], err = b.time(g); err != nil {
			return 0, err
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// time returns the time of a launch of the graph by the device's clock.
func (b *bench) time(g *device.Graph) (time.Duration, error) {
	before, err := b.s.Record()
	if err != nil {
		return 0, err
	}
	defer before.Close()
	launched := g.Launch(b.s)
	after, err := b.s.Record()
	if err := errors.Join(launched, err, b.s.Synchronize(context.Background())); err != nil {
		return 0, err
	}
	defer after.Close()
	return after.Since(before)
}

// check compares rows of the results with products in float64.
func (b *bench) check(x []float32, y device.Slice[float32]) error {
	got := make([]float32, y.Len())
	if err := errors.Join(device.Download(b.s, got, y), b.s.Synchronize(context.Background())); err != nil {
		return err
	}
	for i := 0; len(x) > 0; i, x = i+1, x[b.shape.Columns:] {
		for j, row := range b.sampled {
			var want, size float64
			for k, v := range x[:b.shape.Columns] {
				term := float64(v) * float64(b.weights[j*b.shape.Columns+k])
				want, size = want+term, size+math.Abs(term)
			}
			if g := float64(got[i*b.shape.Rows+int(row)]); !(math.Abs(g-want) <= 2e-6*size) {
				return fmt.Errorf("row %d of vector %d is %v, want %v (%.2g of the magnitudes)", row, i, g, want, math.Abs(g-want)/size)
			}
		}
	}
	return nil
}
