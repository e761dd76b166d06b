package activation

import (
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
)

// TestSwiGLU compares all bfloat16 gates with the function in float64, to the last bit of a bfloat16.
func TestSwiGLU(t *testing.T) {
	gate, up := make([]dtype.BF16, 1<<16-3), make([]dtype.BF16, 1<<16-3)
	for i := range gate {
		gate[i], up[i] = dtype.BF16(i), dtype.BF16From32(float32(i%7)-3.25)
	}
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			out := kerneltest.Upload(t, s, make([]dtype.BF16, len(gate)))
			if err := SwiGLU(s, device.Cover(len(gate), 256), kerneltest.Upload(t, s, gate), kerneltest.Upload(t, s, up), out); err != nil {
				t.Fatal(err)
			}
			for i, got := range kerneltest.Download(t, s, out) {
				x := gate[i].Float64()
				if want := x / (1 + math.Exp(-x)) * up[i].Float64(); !near(got, want) {
					t.Fatalf("of %v and %v comes %v, want %v", gate[i], up[i], got, want)
				}
			}
		})
	}
}

// near reports whether got is a number next to want, or want rounded. Float32 arithmetic on the way flushes what is less than its
// smallest number, and overflows.
func near(got dtype.BF16, want float64) bool {
	g := got.Float64()
	switch {
	case want != want || g != g:
		return want != want && g != g
	case math.Abs(want) < 0x1p-120:
		return math.Abs(g-want) < 0x1p-120
	case math.IsInf(g, 0):
		return math.Abs(want) > 0x1.fep127 && math.Signbit(g) == math.Signbit(want)
	}
	return math.Abs(g-want) <= 0x1p-8*math.Abs(want)
}

// BenchmarkCPU reports CPU nanoseconds for an element.
func BenchmarkCPU(b *testing.B) {
	const n = 1 << 20
	for name, open := range kerneltest.VectorUnits() {
		b.Run(name, func(b *testing.B) {
			s := kerneltest.Stream(b, open)
			x := make([]dtype.BF16, n)
			for i := range x {
				x[i] = dtype.BF16From32(float32(i%64)/8 - 4)
			}
			gate, up, out := kerneltest.Upload(b, s, x), kerneltest.Upload(b, s, x), kerneltest.Upload(b, s, x)
			took := kerneltest.Measure(b, s, func() error { return SwiGLU(s, device.Cover(n, 256), gate, up, out) })
			b.ReportMetric(float64(took.Nanoseconds())/n, "ns/element")
		})
	}
}
