package array_test

import (
	"errors"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
)

// upload returns an array of float32 numbers with the strides.
func upload(t *testing.T, s *device.Stream, n int, strides ...int) array.Array {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(i)
	}
	return array.Array{Bytes: device.View[byte](kerneltest.Upload(t, s, list)), Type: dtype.Float32, Strides: strides}
}

// TestManyDimensions adds arrays whose dimensions do not merge. Package tensor tests the operations.
func TestManyDimensions(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			x := array.Operands{Op: array.Add, X: upload(t, s, 64, 1, 2, 4, 8, 16, 32), Y: upload(t, s, 64, 32, 16, 8, 4, 2, 1), Out: upload(t, s, 64, 32, 16, 8, 4, 2, 1)}
			if err := array.Apply(s, []int{2, 2, 2, 2, 2, 2}, &x); err != nil {
				t.Fatal(err)
			}
			for i, got := range kerneltest.Download(t, s, device.View[float32](x.Out.Bytes)) {
				reversed := 0
				for b := range 6 {
					reversed |= i >> b & 1 << (5 - b)
				}
				if want := float32(i + reversed); got != want {
					t.Errorf("element %d is %v, want %v", i, got, want)
				}
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["native"])
	x, long := upload(t, s, 8, 1), upload(t, s, 128, 64, 1, 16, 4, 32, 2, 8)
	shape := []int{8}
	part := func(a array.Array, offset int, of dtype.Type, strides ...int) array.Array {
		a.Offset, a.Type, a.Strides = offset, of, strides
		return a
	}
	sum := func(shape []int, a, out array.Array) error {
		return array.Apply(s, shape, &array.Operands{Op: array.Neg, X: a, Out: out})
	}
	for name, c := range map[string]struct {
		err, cause error
	}{
		"past the end":      {sum(shape, part(x, 1, dtype.Float32, 1), x), array.ErrShape},
		"long strides":      {sum(shape, part(x, 0, dtype.Float32, 2), x), array.ErrShape},
		"negative stride":   {sum(shape, part(x, 7, dtype.Float32, -1), x), array.ErrShape},
		"negative offset":   {sum(shape, part(x, -1, dtype.Float32, 1), x), array.ErrShape},
		"strides missing":   {sum(shape, part(x, 0, dtype.Float32), x), array.ErrShape},
		"negative size":     {sum([]int{-8}, x, x), array.ErrShape},
		"seven dimensions":  {sum([]int{2, 2, 2, 2, 2, 2, 2}, long, part(long, 0, dtype.Float32, 1, 4, 2, 32, 8, 64, 16)), array.ErrShape},
		"two classes":       {sum(shape, x, part(x, 0, dtype.Int32, 1)), array.ErrType},
		"no arithmetic":     {sum(shape, part(x, 0, dtype.Uint32, 1), part(x, 0, dtype.Uint32, 1)), array.ErrType},
		"types of a copy":   {array.Move(s, shape, x, part(x, 0, dtype.Int32, 1)), array.ErrType},
		"types of a choice": {array.Where(s, shape, &array.Selection{Out: x, Holds: x, X: x, Y: x}), array.ErrType},
		"types of a cast":   {array.Convert(s, shape, x, part(x, 0, dtype.Int8, 1)), array.ErrType},
		"type of indices":   {array.Indices{Array: x, Limit: 8, Step: 1}.Gather(s, shape, x, x), array.ErrType},
		"an empty line":     {array.Reduce(s, []int{}, &array.Reduction{X: part(x, 0, dtype.Float32), Out: part(x, 0, dtype.Float32), Last: true, Line: array.Line{Length: 0, Step: 1}}), array.ErrShape},
		"a long line":       {array.Reduce(s, []int{}, &array.Reduction{X: part(x, 0, dtype.Float32), Out: part(x, 0, dtype.Float32), Last: true, Line: array.Line{Length: 9, Step: 1}, Divisor: 1}), array.ErrShape},
		"no last stage":     {array.Reduce(s, []int{}, &array.Reduction{X: part(x, 0, dtype.Float32), Out: part(x, 0, dtype.Float32), Line: array.Line{Length: 8, Step: 1}}), array.ErrShape},
		"float32 products":  {array.Product(s, shape, &array.Lines{Out: x, X: x, Y: x, Length: 1}), array.ErrType},
	} {
		if !errors.Is(c.err, c.cause) {
			t.Errorf("%s: %v, want %v", name, c.err, c.cause)
		}
	}
}
