package compile_test

import (
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestFixedLoops compiles loops of constant trip counts and counts loads, as a second copy of a loop would have some, and the
// comparisons of indices before the loop.
func TestFixedLoops(t *testing.T) {
	cases := []struct {
		loop               string
		loads, comparisons int
	}{
		{"for i := range 100 { sum += a[i] }", 1, 1},
		{"for i := range 100 { sum += a[i0*100+i] }", 1, 1},
		{"for i := 0; i < 400; i += 4 { sum += a[i0+i] * a[i0+i+1] * a[i0+i+3] }", 3, 1},
		{"for i := range 100 { sum += a[n+i] }", 1, 2},
		{"for i := 63; i >= 0; i-- { sum += a[i0+i] * b[i] }", 2, 2},
		{"for i := uint8(1); i < 120; i++ { sum += a[i] }", 1, 1},
		{"for i, k := 0, n; i < 50; i, k = i+1, k-3 { sum += a[k] }", 1, 2},
		{"for i := range 50 { sum += a[i*t.GridDimX()] }", 1, 2},
		{"for i := range 50 { if sum += a[i]; sum > 9 { sum *= 0.5 } }", 1, 1},
	}
	var kernels []string
	for _, c := range cases {
		kernels = append(kernels, "func f(t gpu.Thread, a, b []float32, n int) {\n\tsum, i0 := float32(0), t.GlobalX()\n\t"+c.loop+"\n\tb[i0] = sum\n}")
	}
	compiled := inOnePackage(t, "//gpu:kernel\n//gpu:block 64\n//gpu:assume narrow\n", kernels)
	for i, c := range cases {
		t.Run(c.loop, func(t *testing.T) {
			k := compiled[i]
			loads, comparisons := 0, -1 // but that of i0
			loops := analysis.Loops(ir.Dominators(k.IR))
			for _, b := range k.IR.Blocks {
				inside := slices.ContainsFunc(loops, func(l *analysis.Loop) bool { return l.Contains(b) })
				for _, v := range b.Values {
					switch {
					case v.Op == ir.OpLoad:
						loads++
					case !b.Cold && !inside && v.Op == ir.OpULt:
						comparisons++
					}
				}
			}
			if _, checks := hotLoops(k); checks > 0 || loads != c.loads || comparisons != c.comparisons {
				t.Errorf("%d loads, %d comparisons and %d checks in loops; want %d, %d and none", loads, comparisons, checks, c.loads, c.comparisons)
			}
		})
	}
}
