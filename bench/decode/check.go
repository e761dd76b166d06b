package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
)

// deviceSource takes the numbers from a model in device memory. It multiplies there with the simplest kernel of package
// matvec, or, if exact is set, in float64 on the host. The first error makes all later results zero.
type deviceSource struct {
	*model
	exact bool
	err   error
}

// fetch returns the numbers of x.
func (d *deviceSource) fetch(x device.Slice[dtype.BF16]) []float64 {
	host, out := make([]dtype.BF16, x.Len()), make([]float64, x.Len())
	if d.err == nil {
		d.err = errors.Join(device.Download(d.stream, host, x), d.stream.Synchronize(context.Background()))
	}
	for i, v := range host {
		out[i] = v.Float64()
	}
	return out
}

func (d *deviceSource) gain(layer, which int) []float64 { return d.fetch(d.gains[layer][which]) }

func (d *deviceSource) vector(token int) []float64 {
	return d.fetch(d.table.Slice(token*d.hidden, (token+1)*d.hidden))
}

func (d *deviceSource) cache(layer int) (k, v []float64) {
	return d.fetch(d.k[layer]), d.fetch(d.v[layer])
}

func (d *deviceSource) multiply(k kind, layer int, x []float64) []float64 {
	m := d.matrix(k, layer)
	if d.exact {
		w, y := d.fetch(m.W), make([]float64, m.Rows)
		for r := range y {
			for i, v := range w[r*m.Columns : (r+1)*m.Columns] {
				y[r] += v * x[i]
			}
		}
		return y
	}
	y, err := d.product(m, x)
	d.err = errors.Join(d.err, err)
	return y
}

// product multiplies on the device.
func (d *deviceSource) product(m matvec.Matrix, x []float64) ([]float64, error) {
	narrow, y := make([]float32, len(x)), make([]float64, m.Rows)
	for i, v := range x {
		narrow[i] = float32(v)
	}
	in, err := device.Upload(d.stream, narrow)
	if err != nil {
		return y, err
	}
	defer in.Close()
	out, err := device.Make[float32](d.stream, m.Rows)
	if err != nil {
		return y, err
	}
	defer out.Close()
	host := make([]float32, m.Rows)
	err = errors.Join(matvec.Multiply(d.stream, m.Shape, matvec.Operands[dtype.BF16]{W: m.W, X: in.All(), Y: out.All()}),
		device.Download(d.stream, host, out.All()), d.stream.Synchronize(context.Background()))
	for i, v := range host {
		y[i] = float64(v)
	}
	return y, err
}

// difference is how far results of the device are from the reference, relative to its length.
type difference struct{ residual, logits float64 }

// results are what a step leaves: the residual stream after the last layer, and the logits.
type results struct{ residual, logits []float64 }

// checkedToken is the token of the steps that are checked.
const checkedToken = 7

// expect returns the results of the reference, whose products are exact or come from the simplest kernel.
func (m *model) expect(exact bool) (results, error) {
	from := &deviceSource{model: m, exact: exact}
	x, logits := reference(m.shape, from, checkedToken)
	return results{x, logits}, from.err
}

// check runs a step by run and compares its results with those of the reference.
func (m *model) check(run func() error, want results) (difference, error) {
	got, x, next := make([]float32, m.vocabulary), make([]float32, m.hidden), make([]int32, 1)
	poison := float32(math.NaN())
	err := errors.Join(device.Fill(m.stream, m.scores.Logits, poison), device.Fill(m.stream, m.x, poison),
		device.Fill(m.stream, m.token, int32(checkedToken)), run(), device.Download(m.stream, got, m.scores.Logits),
		device.Download(m.stream, x, m.x), device.Download(m.stream, next, m.token), m.stream.Synchronize(context.Background()))
	if err != nil {
		return difference{}, err
	}
	best := 0
	for i, v := range got {
		if v > got[best] {
			best = i
		}
	}
	d := difference{distance(x, want.residual), distance(got, want.logits)}
	if int(next[0]) != best {
		return d, fmt.Errorf("the next token is %d, but logit %d is the largest", next[0], best)
	}
	return d, nil
}

// distance returns the length of got - want relative to that of want.
func distance(got []float32, want []float64) float64 {
	var sum, all float64
	for i, w := range want {
		d := float64(got[i]) - w
		sum, all = sum+d*d, all+w*w
	}
	return math.Sqrt(sum / all)
}
