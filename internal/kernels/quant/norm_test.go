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
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestMultiplyNorm compares products of normalized vectors with those in float64, and with NaN in the vector. The interpreter has a third of
// the shapes in each format.
func TestMultiplyNorm(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for k, f := range []Format{Q4_1, Q8_0, Q4_K, Q5_K, Q6_K} {
			t.Run(name+"/"+layouts[f].name, func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				for i, shape := range []Shape{{1, 256}, {67, 288}, {40, 2048}} {
					if name == "cuda" || sweep.Every(3, i+k) {
						multiplyNorm(t, s, f, shape.in(f))
					}
				}
				for i, shape := range []Shape{{32, 256}, {96, 288}, {160, 2304}, {2 * 16 * 1000, 256}} {
					if (f == Q4_1 || f == Q4_K || f == Q6_K) && (name == "cuda" || sweep.Every(3, i+k/2)) {
						gateNorm(t, s, f, shape.in(f))
					}
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
	want, size := reference(w, normed(x, gain, epsilon), shape.Columns)
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

// normed returns RMSNorm of x.
func normed(x, gain []float32, epsilon float64) []float64 {
	var squares float64
	for _, v := range x {
		squares += float64(v) * float64(v)
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v) / math.Sqrt(squares/float64(len(x))+epsilon) * float64(gain[i])
	}
	return y
}

// gateNorm compares SwiGLU of products of a normalized vector with that in float64.
func gateNorm(t *testing.T, s *device.Stream, f Format, shape Shape) {
	t.Helper()
	const epsilon = 1e-2
	m, w := upload(t, s, f, shape)
	if !Gates(s, m) {
		t.Fatalf("%+v: no kernel", shape)
	}
	x, gain := vector[float32](shape.Columns), vector[float32](shape.Columns + 1)[1:]
	y := kerneltest.Upload(t, s, slices.Repeat([]dtype.BF16{dtype.BF16From32(float32(math.NaN()))}, shape.Rows/2))
	if err := GateNorm(s, m, Norm{X: kerneltest.Upload(t, s, x), Gain: kerneltest.Upload(t, s, gain), Epsilon: epsilon}, y); err != nil {
		t.Fatal(err)
	}
	products, size := reference(w, normed(x, gain, epsilon), shape.Columns)
	relative, absolute := row.Rounding[dtype.BF16]()
	for i, got := range kerneltest.Download(t, s, y) {
		gate, up := products[i], products[shape.Rows/2+i]
		sigmoid := 1 / (1 + math.Exp(-gate))
		bound := 4e-6 * (1.1*size[i]*math.Abs(up) + sigmoid*math.Abs(gate)*size[shape.Rows/2+i]) // the slope of SiLU is at most 1.1
		want := gate * sigmoid * up
		if d := math.Abs(got.Float64() - want); !(d <= bound+(relative+1e-6)*math.Abs(want)+absolute) {
			t.Fatalf("%+v: row %d is %v, want %v", shape, i, got, want)
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
	if m, _ := upload(t, s, Q4_1, Shape{40, 256}); Gates(s, m) || !errors.Is(GateNorm(s, m, fits, y.Slice(0, 16)), ErrShape) {
		t.Error("there is a kernel for two halves of 20 rows")
	}
	if m, _ := upload(t, s, Q8_0, Shape{32, 256}); Gates(s, m) {
		t.Error("there is a kernel for SwiGLU in Q8_0")
	}
	if m, _ := upload(t, s, Q4_1, Shape{32, 256}); !errors.Is(GateNorm(s, m, fits, y.Slice(0, 15)), ErrShape) {
		t.Error("GateNorm of 16 elements in 15")
	}
}
