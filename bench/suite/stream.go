package suite

import (
	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

//go:generate go tool kernelgen .

// scalar is BabelStream's constant.
const scalar = 0.4

// copy32 stores a in c: BabelStream's copy.
//
//gpu:kernel
func copy32(t gpu.Thread, a, c []float32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i]
	}
}

// mul32 stores the constant scalar times c in b: BabelStream's mul.
//
//gpu:kernel
func mul32(t gpu.Thread, c, b []float32) {
	if i := t.GlobalX(); i < len(b) {
		b[i] = scalar * c[i]
	}
}

// add32 stores the sum of a and b in c: BabelStream's add.
//
//gpu:kernel
func add32(t gpu.Thread, a, b, c []float32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i] + b[i]
	}
}

// triad32 stores b + scalar*c in a: BabelStream's triad.
//
//gpu:kernel
func triad32(t gpu.Thread, b, c, a []float32) {
	if i := t.GlobalX(); i < len(a) {
		a[i] = b[i] + scalar*c[i]
	}
}

// copy64 is like copy32 for float64.
//
//gpu:kernel
func copy64(t gpu.Thread, a, c []float64) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i]
	}
}

// mul64 is like mul32 for float64.
//
//gpu:kernel
func mul64(t gpu.Thread, c, b []float64) {
	if i := t.GlobalX(); i < len(b) {
		b[i] = scalar * c[i]
	}
}

// add64 is like add32 for float64.
//
//gpu:kernel
func add64(t gpu.Thread, a, b, c []float64) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i] + b[i]
	}
}

// triad64 is like triad32 for float64.
//
//gpu:kernel
func triad64(t gpu.Thread, b, c, a []float64) {
	if i := t.GlobalX(); i < len(a) {
		a[i] = b[i] + scalar*c[i]
	}
}

// elementwise is a case whose kernel computes an element a thread from one or two arrays.
type elementwise[T harness.Float] struct {
	name   string
	kernel any // its launcher
	inputs int
	want   func(x, y T) T
}

func newCopy32(b *harness.Bench, n int) harness.Work {
	return elementwise[float32]{"copy32", Copy32, 1, func(x, _ float32) float32 { return x }}.make(b, n)
}

func newMul32(b *harness.Bench, n int) harness.Work {
	return elementwise[float32]{"mul32", Mul32, 1, func(x, _ float32) float32 { return scalar * x }}.make(b, n)
}

func newAdd32(b *harness.Bench, n int) harness.Work {
	return elementwise[float32]{"add32", Add32, 2, func(x, y float32) float32 { return x + y }}.make(b, n)
}

func newTriad32(b *harness.Bench, n int) harness.Work {
	return elementwise[float32]{"triad32", Triad32, 2, func(x, y float32) float32 { return x + scalar*y }}.make(b, n)
}

func newCopy64(b *harness.Bench, n int) harness.Work {
	return elementwise[float64]{"copy64", Copy64, 1, func(x, _ float64) float64 { return x }}.make(b, n)
}

func newMul64(b *harness.Bench, n int) harness.Work {
	return elementwise[float64]{"mul64", Mul64, 1, func(x, _ float64) float64 { return scalar * x }}.make(b, n)
}

func newAdd64(b *harness.Bench, n int) harness.Work {
	return elementwise[float64]{"add64", Add64, 2, func(x, y float64) float64 { return x + y }}.make(b, n)
}

func newTriad64(b *harness.Bench, n int) harness.Work {
	return elementwise[float64]{"triad64", Triad64, 2, func(x, y float64) float64 { return x + scalar*y }}.make(b, n)
}

// make prepares the case on n elements, all positive, so that a product and a sum that are
// rounded once or twice differ in the last bit only. The best twin takes 16 bytes a thread.
func (e elementwise[T]) make(b *harness.Bench, n int) harness.Work {
	x := harness.Input(b, harness.Random(b, n, harness.Uniform[T]))
	y, args := x, []harness.Argument{x}
	if e.inputs == 2 {
		y = harness.Input(b, harness.Random(b, n, harness.Uniform[T]))
		args = append(args, y)
	}
	out := harness.Result(b, n, harness.NaN[T]())
	size := harness.SizeOf[T]()
	run := harness.Of(e.name, e.kernel, device.Cover(n, 256), append(args, out)...)
	return harness.Work{
		Bytes: float64((e.inputs + 1) * n * size),
		Ours:  []harness.Launch{run},
		Best:  []harness.Launch{run.Best(device.Cover(n*size/16, 256))},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: harness.LastBit[T]()}, out.Host, func(i int) float64 { return float64(e.want(x.Host[i], y.Host[i])) })
		},
	}
}
