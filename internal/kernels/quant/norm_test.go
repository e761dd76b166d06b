package quant

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// TestMultiplyNorm compares products of normalized vectors with those in float64, and with NaN in the vector.
func TestMultiplyNorm(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for _, f := range []Format{Q4_1, Q8_0, Q4_K, Q5_K} {
			t.Run(name+"/"+layouts[f].name, func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				for _, shape := range []Shape{{1, 256}, {67, 288}, {40, 2048}} {
					multiplyNorm(t, s, f, shape.in(f))
				}
			})
		}
	}
}

func multiplyNorm(t *testing.T, s *device.Stream, f Format, shape Shape) {
	t.Helper()
	const epsilon = 1e-2
	m, w := upload(t, s, f, shape)
	if !Normalizes(s, m) {
		t.Fatalf("%+v: no kernel", shape)
	}
	x, gain := vector[float32](shape.Columns), vector[float32](shape.Columns + 1)[1:]
	y := kerneltest.Upload(t, s, slices.Repeat([]dtype.BF16{dtype.BF16From32(float32(math.NaN()))}, shape.Rows))
	o := Norm{X: kerneltest.Upload(t, s, x), Gain: kerneltest.Upload(t, s, gain), Epsilon: epsilon}
	if err := MultiplyNorm(s, m, o, y); err != nil {
		t.Fatal(err)
	}
	var squares float64
	for _, v := range x {
		squares += float64(v) * float64(v)
	}
	normed := make([]float64, len(x))
	for i, v := range x {
		normed[i] = float64(v) / math.Sqrt(squares/float64(len(x))+epsilon) * float64(gain[i])
	}
	want, size := reference(w, normed, shape.Columns)
	relative, absolute := row.Rounding[dtype.BF16]()
	for i, got := range kerneltest.Download(t, s, y) {
		if d := math.Abs(got.Float64() - want[i]); !(d <= 4e-6*size[i]+relative*math.Abs(want[i])+absolute) {
			t.Fatalf("%+v: row %d is %v, want %v", shape, i, got, want[i])
		}
	}
	x[shape.Columns-1] = float32(math.NaN())
	o.X = kerneltest.Upload(t, s, x)
	if err := MultiplyNorm(s, m, o, y); err != nil {
		t.Fatal(err)
	}
	for i, got := range kerneltest.Download(t, s, y) {
		if !math.IsNaN(got.Float64()) {
			t.Fatalf("%+v: row %d of a vector with NaN is %v", shape, i, got)
		}
	}
}

// TestMultiplyNormShapes passes operands that do not fit.
func TestMultiplyNormShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["interp"])
	m, _ := upload(t, s, Q8_0, Shape{16, 256})
	x, y := kerneltest.Upload(t, s, vector[float32](257)), kerneltest.Upload(t, s, vector[dtype.BF16](17))
	fits := Norm{X: x.Slice(0, 256), Gain: x.Slice(0, 256)}
	if err := MultiplyNorm(s, m, fits, y.Slice(0, 16)); err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{
		MultiplyNorm(s, m, Norm{X: x, Gain: fits.Gain}, y.Slice(0, 16)),
		MultiplyNorm(s, m, Norm{X: fits.X, Gain: x}, y.Slice(0, 16)),
		MultiplyNorm(s, m, fits, y),
		MultiplyNorm(s, m, fits, y.Slice(1, 17)),
	} {
		if !errors.Is(err, ErrShape) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	for _, columns := range []int{64, 4352} {
		if m, _ := upload(t, s, Q8_0, Shape{16, columns}); Normalizes(s, m) {
			t.Errorf("there is a kernel for %d columns", columns)
		}
	}
	if m, _ := upload(t, s, Q6_K, Shape{16, 256}); Normalizes(s, m) {
		t.Error("there is a kernel for Q6_K")
	}
}
