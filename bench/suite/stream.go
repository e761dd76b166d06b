package suite

import (
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

// mul32 stores scalar times c in b: BabelStream's mul.
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

// triad32 stores b plus scalar times c in a: BabelStream's triad.
//
//gpu:kernel
func triad32(t gpu.Thread, b, c, a []float32) {
	if i := t.GlobalX(); i < len(a) {
		a[i] = b[i] + scalar*c[i]
	}
}

// copy64 is copy32 for float64.
//
//gpu:kernel
func copy64(t gpu.Thread, a, c []float64) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i]
	}
}

// mul64 is mul32 for float64.
//
//gpu:kernel
func mul64(t gpu.Thread, c, b []float64) {
	if i := t.GlobalX(); i < len(b) {
		b[i] = scalar * c[i]
	}
}

// add64 is add32 for float64.
//
//gpu:kernel
func add64(t gpu.Thread, a, b, c []float64) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i] + b[i]
	}
}

// triad64 is triad32 for float64.
//
//gpu:kernel
func triad64(t gpu.Thread, b, c, a []float64) {
	if i := t.GlobalX(); i < len(a) {
		a[i] = b[i] + scalar*c[i]
	}
}

// elementwise is a case whose kernel computes an element a thread from one or two arrays.
type elementwise[T float] struct {
	name   string
	kernel any
	inputs int
	want   func(x, y T) T
}

func newCopy32(b *bench, n int) work {
	return elementwise[float32]{"copy32", Copy32, 1, func(x, _ float32) float32 { return x }}.make(b, n)
}

func newMul32(b *bench, n int) work {
	return elementwise[float32]{"mul32", Mul32, 1, func(x, _ float32) float32 { return scalar * x }}.make(b, n)
}

func newAdd32(b *bench, n int) work {
	return elementwise[float32]{"add32", Add32, 2, func(x, y float32) float32 { return x + y }}.make(b, n)
}

func newTriad32(b *bench, n int) work {
	return elementwise[float32]{"triad32", Triad32, 2, func(x, y float32) float32 { return x + scalar*y }}.make(b, n)
}

func newCopy64(b *bench, n int) work {
	return elementwise[float64]{"copy64", Copy64, 1, func(x, _ float64) float64 { return x }}.make(b, n)
}

func newMul64(b *bench, n int) work {
	return elementwise[float64]{"mul64", Mul64, 1, func(x, _ float64) float64 { return scalar * x }}.make(b, n)
}

func newAdd64(b *bench, n int) work {
	return elementwise[float64]{"add64", Add64, 2, func(x, y float64) float64 { return x + y }}.make(b, n)
}

func newTriad64(b *bench, n int) work {
	return elementwise[float64]{"triad64", Triad64, 2, func(x, y float64) float64 { return x + scalar*y }}.make(b, n)
}

// make prepares the case on n elements, all positive, so that a product and a sum that are
// rounded once or twice differ in the last bit only. The best twin takes 16 bytes a thread.
func (e elementwise[T]) make(b *bench, n int) work {
	x := input(b, random(b, n, uniform[T]))
	y, args := x, []argument{x}
	if e.inputs == 2 {
		y = input(b, random(b, n, uniform[T]))
		args = append(args, y)
	}
	out := result(b, n, nan[T]())
	size := sizeOf[T]()
	run := launch{e.name, e.kernel, device.Cover(n, 256), append(args, out)}
	return work{
		bytes: float64((e.inputs + 1) * n * size),
		ours:  []launch{run},
		best:  []launch{run.twin(e.name+"_best", device.Cover(n*size/16, 256))},
		check: func() error {
			return compare(comparison{relative: lastBit[T]()}, out.host, func(i int) float64 { return float64(e.want(x.host[i], y.host[i])) })
		},
	}
}
