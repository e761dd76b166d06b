package conv

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// problem is a convolution.
type problem struct {
	Shape
	activation     Activation
	bias, residual bool
}

// problems have filters of one place, several places and one channel, strides, and borders.
var problems = []problem{
	{Shape{Batch: 2, Height: 5, Width: 3, Channels: 16, Filters: 24, Kernel: 1, Stride: 1}, ReLU, true, true},
	{Shape{Batch: 2, Height: 5, Width: 4, Channels: 7, Filters: 5, Kernel: 1, Stride: 1}, None, false, true},
	{Shape{Batch: 1, Height: 6, Width: 5, Channels: 8, Filters: 16, Kernel: 1, Stride: 2}, None, true, false},
	{Shape{Batch: 2, Height: 6, Width: 7, Channels: 8, Filters: 17, Kernel: 3, Stride: 1, Before: 1, After: 1}, ReLU, true, false},
	{Shape{Batch: 2, Height: 7, Width: 6, Channels: 64, Filters: 64, Kernel: 3, Stride: 1, Before: 1, After: 1}, ReLU, true, true},
	{Shape{Batch: 3, Height: 9, Width: 5, Channels: 128, Filters: 136, Kernel: 3, Stride: 1, Before: 1, After: 1}, ReLU, true, true},
	{Shape{Batch: 1, Height: 13, Width: 11, Channels: 72, Filters: 200, Kernel: 1, Stride: 1}, SiLU, true, true},
	{Shape{Batch: 1, Height: 8, Width: 8, Channels: 8, Filters: 9, Kernel: 3, Stride: 2, Before: 0, After: 1}, SiLU, true, true},
	{Shape{Batch: 2, Height: 11, Width: 13, Channels: 3, Filters: 16, Kernel: 7, Stride: 2, Before: 3, After: 3}, ReLU, true, false},
	{Shape{Batch: 1, Height: 5, Width: 5, Channels: 2, Filters: 3, Kernel: 3, Stride: 1}, ReLU6, true, false},
	{Shape{Batch: 2, Height: 6, Width: 5, Channels: 67, Kernel: 3, Stride: 1, Before: 1, After: 1, Depthwise: true}, ReLU6, true, true},
	{Shape{Batch: 1, Height: 9, Width: 8, Channels: 5, Kernel: 5, Stride: 2, Before: 1, After: 2, Depthwise: true}, None, false, false},
}

// TestForward compares convolutions with the reference. The interpreter has each problem in one of three types,
// and the CPU in float32 and perhaps in another type.
func TestForward(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for i, p := range problems {
				if name != "interp" || sweep.Every(3, i) { // it is slow
					check[float32](t, s, p, 2e-6)
				}
				if s.Device().Info().Kind == "cpu" && p.Channels > 16 && !p.Depthwise {
					continue // products of 16-bit elements take seconds on the CPU, and are tested in package gemm
				}
				if name == "cuda" || name == "interp" && sweep.Every(3, i+1) || name != "interp" && sweep.Every(2, i) {
					check[dtype.F16](t, s, p, 1e-3)
				}
				if name == "cuda" || name == "interp" && sweep.Every(3, i+2) || name != "interp" && sweep.Every(2, i+1) {
					check[dtype.BF16](t, s, p, 8e-3)
				}
			}
		})
	}
}

// random returns random numbers with a normal distribution as elements, and as what the elements are.
func random[T row.Number](seed uint64, n int, deviation float64) ([]T, []float64) {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([]T, n)
	for i := range x {
		x[i] = row.From64[T](deviation * r.NormFloat64())
	}
	return x, row.Float64s(x)
}

// check compares all elements of a result with the reference. The tolerance is for results of about 1.
func check[T row.Number](t *testing.T, s *device.Stream, p problem, tolerance float64) {
	t.Helper()
	n := p.rows() * p.filters()
	x, x64 := random[T](1, p.Batch*p.Height*p.Width*p.Channels, 1)
	fan := p.depth()
	if p.Depthwise {
		fan = p.Kernel * p.Kernel
	}
	w, w64 := random[T](2, p.weights(), 1/math.Sqrt(float64(fan)))
	y := make([]T, n)
	for i := range y {
		y[i] = row.From64[T](math.NaN())
	}
	o := Operands[T]{X: kerneltest.Upload(t, s, x), Weights: kerneltest.Upload(t, s, w), Y: kerneltest.Upload(t, s, y), Activation: p.activation}
	o.Workspace = kerneltest.Upload(t, s, make([]T, Workspace[T](s.Device(), p.Shape)+1)).Slice(0, Workspace[T](s.Device(), p.Shape))
	var b64, r64 []float64
	if p.bias {
		var b []float32
		b, b64 = random[float32](3, p.filters(), 1)
		o.Bias = kerneltest.Upload(t, s, b)
	}
	if p.residual {
		var r []T
		r, r64 = random[T](4, n, 1)
		o.Residual = kerneltest.Upload(t, s, r)
	}
	if err := Forward(s, p.Shape, o); err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	want := Reference(p.Shape, p.activation, Numbers{x64, w64, b64, r64})
	for i, g := range row.Float64s(kerneltest.Download(t, s, o.Y)) {
		if !(math.Abs(g-want[i]) <= tolerance*(2+math.Abs(want[i]))) {
			t.Fatalf("%+v of %T: element %d is %v, want %v", p, x, i, g, want[i])
		}
	}
}

// TestPool compares both methods of pooling with a reference.
func TestPool(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, shape := range []Shape{
				{Batch: 2, Height: 7, Width: 9, Channels: 70, Kernel: 3, Stride: 2, Before: 1, After: 1},
				{Batch: 2, Height: 6, Width: 5, Channels: 40, Kernel: 3, Stride: 2, Before: 1, After: 1},
				{Batch: 3, Height: 4, Width: 4, Channels: 5, Kernel: 4, Stride: 1},
			} {
				for m := Max; m <= Mean; m++ {
					checkPool[float32](t, s, shape, m)
					checkPool[dtype.F16](t, s, shape, m)
					checkPool[dtype.BF16](t, s, shape, m)
				}
			}
		})
	}
}

func checkPool[T row.Number](t *testing.T, s *device.Stream, p Shape, m Method) {
	t.Helper()
	x, x64 := random[T](5, p.Batch*p.Height*p.Width*p.Channels, 1)
	y := kerneltest.Upload(t, s, make([]T, p.rows()*p.Channels))
	if err := Pool(s, p, Pooling[T]{kerneltest.Upload(t, s, x), y, m}); err != nil {
		t.Fatal(err)
	}
	want := pooled(p, m, x64)
	tolerance := map[uintptr]float64{2: 4e-3, 4: 1e-6}[unsafe.Sizeof(x[0])]
	for i, g := range row.Float64s(kerneltest.Download(t, s, y)) {
		if !(math.Abs(g-want[i]) <= tolerance*math.Abs(want[i])+1e-6) {
			t.Fatalf("%+v, method %d of %T: element %d is %v, want %v", p, m, x, i, g, want[i])
		}
	}
}

// pooled computes pooling in float64.
func pooled(p Shape, m Method, x []float64) (y []float64) {
	h, w := p.Places()
	for i := range p.rows() * p.Channels {
		c, at := i%p.Channels, i/p.Channels
		best, sum, n := math.Inf(-1), 0.0, 0.0
		for tap := range p.Kernel * p.Kernel {
			r, q := at/w%h*p.Stride+tap/p.Kernel-p.Before, at%w*p.Stride+tap%p.Kernel-p.Before
			if r >= 0 && r < p.Height && q >= 0 && q < p.Width {
				v := x[((at/(h*w)*p.Height+r)*p.Width+q)*p.Channels+c]
				best, sum, n = max(best, v), sum+v, n+1
			}
		}
		if m == Mean {
			best = sum / n
		}
		y = append(y, best)
	}
	return y
}

// TestShapes passes operands that do not fit, and shapes that do not exist or have no elements.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	good := Shape{Batch: 1, Height: 4, Width: 4, Channels: 2, Filters: 3, Kernel: 3, Stride: 1, Before: 1, After: 1}
	x := kerneltest.Upload(t, s, make([]float32, 4096))
	operands := func(p Shape) Operands[float32] {
		return Operands[float32]{X: x.Slice(0, 32), Weights: x.Slice(0, 54), Y: x.Slice(1024, 1072), Workspace: x.Slice(2048, 4096)}
	}
	if err := Forward(s, good, operands(good)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *Shape, o *Operands[float32]){
		"height": func(p *Shape, _ *Operands[float32]) { p.Height = 5 }, "negative": func(p *Shape, _ *Operands[float32]) { p.Width = -4 },
		"stride": func(p *Shape, _ *Operands[float32]) { p.Stride = 0 }, "kernel": func(p *Shape, _ *Operands[float32]) { p.Kernel = 0 },
		"border": func(p *Shape, _ *Operands[float32]) { p.Before = 3 }, "huge": func(p *Shape, _ *Operands[float32]) { p.Batch = 1 << 30 },
		"bias": func(_ *Shape, o *Operands[float32]) { o.Bias = x.Slice(0, 2) }, "residual": func(_ *Shape, o *Operands[float32]) { o.Residual = x.Slice(0, 2) },
		"weights": func(_ *Shape, o *Operands[float32]) { o.Weights = x.Slice(0, 53) }, "workspace": func(_ *Shape, o *Operands[float32]) { o.Workspace = x.Slice(0, 9) },
		"activation": func(_ *Shape, o *Operands[float32]) { o.Activation = 9 },
	} {
		p, o := good, operands(good)
		change(&p, &o)
		if err := Forward(s, p, o); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
	none := good
	none.Batch = 0
	if err := Forward(s, none, Operands[float32]{Weights: x.Slice(0, 54)}); err != nil {
		t.Errorf("no images: %v", err)
	}
	if err := Pool(s, good, Pooling[float32]{x.Slice(0, 31), x.Slice(0, 32), Max}); !errors.Is(err, ErrShape) {
		t.Errorf("pooling: %v, want ErrShape", err)
	}
}

// TestFloats passes NaN and infinities, which convolutions and ReLU keep.
func TestFloats(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			y := kerneltest.Upload(t, s, make([]float32, 4))
			o := Operands[float32]{X: kerneltest.Upload(t, s, []float32{nan, inf, -inf, -1}), Weights: kerneltest.Upload(t, s, []float32{1}), Y: y, Activation: ReLU}
			if err := Forward(s, Shape{Batch: 1, Height: 2, Width: 2, Channels: 1, Filters: 1, Kernel: 1, Stride: 1}, o); err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprint(kerneltest.Download(t, s, y)), "[NaN +Inf 0 0]"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
