package pass

import (
	"fmt"
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestQuotientsOfAnything has quotients and roots of numbers of all kinds, zeros, subnormal ones and infinities too,
// beside a root that holds by itself: what they leave must be the same, or be computed again.
func TestQuotientsOfAnything(t *testing.T) {
	for _, op := range []string{
		"fdiv f32 %0, %1", "fdiv f32 %3, %1", "fdiv f32 %4, %1", "fdiv f32 %0, %4", "fdiv f32 %0, %5", "fsqrt f32 %0",
	} {
		text := fmt.Sprintf("func f(%%0 f32, %%1 f32, %%2 f32) -> f32 {\nb0:\n\t%%3 = const f32 1\n\t%%4 = const f32 3\n\t%%5 = const f32 -0.001\n"+
			"\t%%6 = %s\n\t%%7 = fsqrt f32 %%2\n\t%%8 = fmul f32 %%6, %%7\n\tret %%8\n}\n", op)
		before, after := parse(t, text).Funcs[0], parse(t, text).Funcs[0]
		expandFDiv(after, &Options{})
		if len(after.Blocks) == 1 {
			t.Fatalf("%s: nothing is computed twice", op)
		}
		for _, x := range floatsOfAllKinds() {
			for _, y := range floatsOfAllKinds() {
				if want, got := runFloats(t, before, x, y, 1), runFloats(t, after, x, y, 1); got != want {
					t.Fatalf("%s, of %v and %v: %s, want %s", op, x, y, got, want)
				}
			}
		}
	}
}

// floatsOfAllKinds returns the float32 at the ends of what numbers there are, and some between, of both signs.
func floatsOfAllKinds() (list []float32) {
	for _, x := range []float64{
		0, 0x1p-149, 1e-40, 0x1.fffffcp-127, 0x1p-126, 0x1.8p-101, 0x1p-100, 0x1.000002p-100, 0x1.234p-60, 1 / 3.0, 1, 1.5,
		12345.678, 0x1.fffffep99, 0x1p125, 0x1p126, 0x1.000002p126, 0x1p127, math.MaxFloat32, math.Inf(1),
	} {
		list = append(list, float32(x), -float32(x))
	}
	return append(list, float32(math.NaN()))
}

// runFloats returns what f makes of float32 arguments.
func runFloats(t *testing.T, f *ir.Func, args ...float32) string {
	t.Helper()
	m := newMachine(usual)
	var data []datum
	for _, x := range args {
		data = append(data, datum{bits: uint64(math.Float32bits(x))})
	}
	o, err := m.run(f, data)
	if err != nil {
		t.Fatal(err)
	}
	return o.result
}
