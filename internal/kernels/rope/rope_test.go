package rope

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

var forms = map[row.Form]string{row.Plain: "plain", row.Wide: "wide"}

var shapes = []Shape{
	{Tokens: 1, Heads: 1, Dim: 2},
	{Tokens: 3, Heads: 2, Dim: 64},
	{Tokens: 5, Heads: 3, Dim: 48, Rotary: 32, Stride: 200},
	{Tokens: 2, Heads: 5, Dim: 13, Rotary: 10, Stride: 67},
	{Tokens: 7, Heads: 9, Dim: 128, Stride: 15 * 128},
	{Tokens: 1, Heads: 40, Dim: 256, Rotary: 192},
}

// TestRotate compares rotations in both directions in all forms with the reference, and tests that other elements stay as they are.
func TestRotate(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for form, formName := range forms {
			if !kerneltest.Runs(name, form) {
				continue
			}
			t.Run(name+"/"+formName, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for _, shape := range shapes {
					for _, sign := range []float32{1, -1} {
						check[float32](t, s, form, shape, sign)
						check[dtype.BF16](t, s, form, shape, sign)
						check[dtype.F16](t, s, form, shape, sign)
					}
				}
			})
		}
	}
}

// positions are of tokens anywhere in a long sequence, also before its start.
var positions = []int32{0, 1, 7, 4095, 131071, -3, 1 << 20}

// check compares a rotation of random heads with the reference.
func check[T row.Number](t *testing.T, s *device.Stream, form row.Form, shape Shape, sign float32) {
	t.Helper()
	full := shape.full()
	r := rand.New(rand.NewPCG(uint64(full.Stride), 3))
	x := make([]T, full.Tokens*full.Stride)
	for i := range x {
		x[i] = row.From64[T](r.NormFloat64())
	}
	frequencies := Frequencies(full.Rotary, 10000, nil)
	on := kerneltest.Upload(t, s, x)
	angles := kerneltest.Upload(t, s, poison(full.Tokens*full.Rotary))
	if err := Angles(s, kerneltest.Upload(t, s, positions[:full.Tokens]), kerneltest.Upload(t, s, frequencies), angles); err != nil {
		t.Fatal(err)
	}
	if err := (launch[T]{form, on, angles, sign}).run(s, shape); err != nil {
		t.Fatal(err)
	}
	relative, absolute := row.Rounding[T]()
	got := row.Float64s(kerneltest.Download(t, s, on))
	before := row.Float64s(x)
	for token := range full.Tokens {
		for head := range full.Heads {
			first := token*full.Stride + head*full.Dim
			want, size := Reference(before[first:first+full.Dim], int32(sign)*positions[token], frequencies)
			copy(before[first:], want)
			for i, w := range want {
				if g := got[first+i]; !(math.Abs(g-w) <= relative*math.Abs(w)+4e-7*size[i]+absolute) {
					t.Fatalf("%+v of %T: token %d, head %d, element %d is %v, want %v", shape, x[0], token, head, i, g, w)
				}
			}
		}
		for i := token*full.Stride + full.Heads*full.Dim; i < (token+1)*full.Stride; i++ {
			if got[i] != before[i] {
				t.Fatalf("%+v of %T: element %d after the heads of token %d has changed", shape, x[0], i, token)
			}
		}
	}
}

func poison(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return x
}

// TestNaN rotates a head with a NaN and an infinity, each of which spreads to one more element.
func TestNaN(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x := make([]float32, 64)
	x[3], x[40] = float32(math.NaN()), float32(math.Inf(1))
	on, angles := kerneltest.Upload(t, s, x), kerneltest.Upload(t, s, make([]float32, 64))
	if err := Angles(s, kerneltest.Upload(t, s, []int32{5}), kerneltest.Upload(t, s, Frequencies(64, 100, nil)), angles); err != nil {
		t.Fatal(err)
	}
	if err := Rotate(s, Shape{Tokens: 1, Heads: 1, Dim: 64}, on, angles); err != nil {
		t.Fatal(err)
	}
	for i, got := range kerneltest.Download(t, s, on) {
		if finite := got-got == 0; finite != (i%32 != 3 && i%32 != 8) {
			t.Errorf("element %d is %v", i, got)
		}
	}
}

// TestFrequencies compares the frequencies of Llama 3.1 (a base of 500000, 128 elements, a factor of 8) with its definition, by
// wavelength.
func TestFrequencies(t *testing.T) {
	plain := Frequencies(128, 500000, nil)
	scaled := Frequencies(128, 500000, &Scaling{Factor: 8, Low: 1, High: 4, Context: 8192})
	for i, f := range plain {
		wavelength := 2 * math.Pi / math.Pow(500000, -float64(i)/64)
		want := float64(f)
		switch {
		case wavelength > 8192:
			want /= 8
		case wavelength > 2048:
			smooth := (8192/wavelength - 1) / 3
			want = (1-smooth)*want/8 + smooth*want
		}
		if math.Abs(float64(scaled[i])-want) > 1e-7*want {
			t.Errorf("frequency %d is %v, want %v", i, scaled[i], want)
		}
	}
	if plain[0] != 1 || math.Abs(float64(plain[32])-1/math.Sqrt(500000)) > 1e-10 || scaled[0] != 1 || scaled[63] != plain[63]/8 {
		t.Errorf("frequencies are %v and %v", plain, scaled)
	}
}

// TestShapes passes operands that do not fit, and some of no elements.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x := kerneltest.Upload(t, s, make([]float32, 64))
	for name, shape := range map[string]Shape{
		"few elements": {Tokens: 2, Heads: 1, Dim: 64},
		"few angles":   {Tokens: 4, Heads: 1, Dim: 16, Rotary: 8},
		"odd":          {Tokens: 1, Heads: 1, Dim: 65, Rotary: 65},
		"rotary":       {Tokens: 2, Heads: 1, Dim: 30, Rotary: 32},
		"stride":       {Tokens: 1, Heads: 1, Dim: 64, Stride: 63},
		"negative":     {Tokens: -1, Heads: -1, Dim: 64},
	} {
		if err := Rotate(s, shape, x, x); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
	none := device.Slice[float32]{}
	if err := errors.Join(Rotate(s, Shape{Heads: 1, Dim: 64}, none, none), Angles(s, device.Slice[int32]{}, x, none)); err != nil {
		t.Errorf("no tokens: %v", err)
	}
	if err := Angles(s, kerneltest.Upload(t, s, []int32{1}), x, x); !errors.Is(err, ErrShape) {
		t.Errorf("few angles: %v, want ErrShape", err)
	}
}

// BenchmarkCPU reports CPU nanoseconds for an element.
func BenchmarkCPU(b *testing.B) {
	for name, open := range kerneltest.VectorUnits() {
		b.Run("float32/"+name, func(b *testing.B) { measure[float32](b, kerneltest.Stream(b, open)) })
		b.Run("bfloat16/"+name, func(b *testing.B) { measure[dtype.BF16](b, kerneltest.Stream(b, open)) })
	}
}

func measure[T row.Number](b *testing.B, s *device.Stream) {
	shape := Shape{Tokens: 64, Heads: 40, Dim: 128}
	n := shape.Tokens * shape.Heads * shape.Dim
	x, angles := kerneltest.Upload(b, s, make([]T, n)), kerneltest.Upload(b, s, make([]float32, shape.Tokens*shape.Dim))
	took := kerneltest.Measure(b, s, func() error { return Rotate(s, shape, x, angles) })
	b.ReportMetric(float64(took.Nanoseconds())/float64(n), "ns/element")
}

// TestUnaligned rotates heads that do not begin at a multiple of 16 bytes.
func TestUnaligned(t *testing.T) {
	shape := Shape{Tokens: 2, Heads: 3, Dim: 16}
	n := shape.Tokens * shape.Heads * shape.Dim
	x := make([]float32, n+1)
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	var results [][]float32
	for _, name := range []string{"scalar", "interp"} {
		s := kerneltest.Stream(t, kerneltest.Executions()[name])
		angles := kerneltest.Upload(t, s, make([]float32, shape.Tokens*shape.Dim))
		if err := Angles(s, kerneltest.Upload(t, s, positions[:shape.Tokens]), kerneltest.Upload(t, s, Frequencies(shape.Dim, 100, nil)), angles); err != nil {
			t.Fatal(err)
		}
		on := kerneltest.Upload(t, s, x)
		aligned := kerneltest.Upload(t, s, x[1:])
		for _, x := range []device.Slice[float32]{on.Slice(1, n+1), aligned} {
			if err := Rotate(s, shape, x, angles); err != nil {
				t.Fatal(err)
			}
			results = append(results, kerneltest.Download(t, s, x))
		}
	}
	for _, got := range results[1:] {
		for i := range got {
			if math.Abs(float64(got[i]-results[0][i])) > 1e-5 {
				t.Fatalf("element %d is %v, want %v", i, got[i], results[0][i])
			}
		}
	}
}
