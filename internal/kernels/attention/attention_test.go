package attention_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

var shapes = []attention.Shape{
	{Batch: 1, Heads: 1, KeyHeads: 1, Length: 1},
	{Batch: 1, Heads: 1, KeyHeads: 1, Length: 77, Causal: true},
	{Batch: 1, Heads: 2, KeyHeads: 1, Length: 128},
	{Batch: 2, Heads: 4, KeyHeads: 2, Length: 129, Causal: true},
	{Batch: 1, Heads: 1, KeyHeads: 1, Length: 300},
	{Batch: 1, Heads: 1, KeyHeads: 1, Length: 700, Causal: true},
}

func TestCPU(t *testing.T) {
	n := 3
	if sweep.Whole() {
		n = 4
	}
	onDevice(t, cpu.Open, shapes[:n])
}

func TestInterpreter(t *testing.T) { onDevice(t, ptxinterp.Open, shapes) }

func TestCUDA(t *testing.T) {
	if _, err := cuda.List(); err != nil {
		t.Skip(err)
	}
	dev, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	capability := dev.Info().Capability
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	if capability.Major != 9 {
		t.Skipf("the GPU has compute capability %v, not 9.0", capability)
	}
	more := []attention.Shape{{Batch: 2, Heads: 8, KeyHeads: 2, Length: 4100, Causal: true}, {Batch: 2, Heads: 8, KeyHeads: 8, Length: 4100}}
	onDevice(t, func() (*device.Device, error) { return cuda.Open(0) }, append(more, shapes...))
}

func onDevice(t *testing.T, open func() (*device.Device, error), shapes []attention.Shape) {
	t.Parallel()
	dev, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, shape := range shapes {
		t.Run(fmt.Sprintf("%dx%d/%dx%d/causal=%t", shape.Batch, shape.Heads, shape.KeyHeads, shape.Length, shape.Causal), func(t *testing.T) { check(t, s, shape) })
	}
}

// check compares results with those in float64: all rows of small problems, some of large ones.
func check(t *testing.T, s *device.Stream, shape attention.Shape) {
	random := rand.New(rand.NewPCG(uint64(shape.Length), uint64(shape.Heads)))
	numbers := func(heads int) []dtype.BF16 {
		x := make([]dtype.BF16, shape.Batch*heads*shape.Length*attention.Dim)
		for i := range x {
			x[i] = dtype.BF16From32(float32(2 * random.NormFloat64()))
		}
		return x
	}
	x := attention.Tensors{Q: numbers(shape.Heads), K: numbers(shape.KeyHeads), V: numbers(shape.KeyHeads)}
	got := forward(t, s, shape, x)
	step := max(1, shape.Length/100)
	for head := range shape.Batch * shape.Heads {
		for row := head % step; row < shape.Length; row += step {
			want, size := x.Row(shape, head, row)
			for i, w := range want {
				g := got[(head*shape.Length+row)*attention.Dim+i].Float64()
				if !(math.Abs(g-w) <= size[i]*attention.Tolerance) {
					t.Fatalf("head %d, row %d, element %d: %v, want %v within %v", head, row, i, g, w, size[i]*attention.Tolerance)
				}
			}
		}
	}
}

// forward runs the kernel on results that were NaN before.
func forward(t *testing.T, s *device.Stream, shape attention.Shape, x attention.Tensors) []dtype.BF16 {
	t.Helper()
	out := make([]dtype.BF16, len(x.Q))
	for i := range out {
		out[i] = 0x7fff
	}
	var all [4]*device.Buffer[dtype.BF16]
	for i, host := range [][]dtype.BF16{x.Q, x.K, x.V, out} {
		var err error
		if all[i], err = device.Upload(s, host); err != nil {
			t.Fatal(err)
		}
		defer all[i].Close()
	}
	operands := attention.Operands{Q: all[0].All(), K: all[1].All(), V: all[2].All(), O: all[3].All()}
	err := errors.Join(attention.Forward(s, shape, operands), device.Download(s, out, operands.O), s.Synchronize(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestShape(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := device.Make[dtype.BF16](s, 2*attention.Dim)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	one := attention.Operands{Q: x.All(), K: x.All(), V: x.All(), O: x.All()}
	for name, shape := range map[string]attention.Shape{
		"no batch":            {Heads: 1, KeyHeads: 1, Length: 2},
		"no length":           {Batch: 1, Heads: 1, KeyHeads: 1},
		"another length":      {Batch: 1, Heads: 1, KeyHeads: 1, Length: 3},
		"heads that differ":   {Batch: 1, Heads: 3, KeyHeads: 2, Length: 2},
		"fewer keys and more": {Batch: 1, Heads: 2, KeyHeads: 1, Length: 1},
	} {
		if err := attention.Forward(s, shape, one); !errors.Is(err, attention.ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
}
