package compile_test

import (
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestLoops compiles loops that end and proceed in several ways, and counts the checks, and the branches to what has checks, in
// those that are not cold.
func TestLoops(t *testing.T) {
	loops := []string{
		"for i := 0; i < 1024; i += 16 { sum += a[i] }",
		"for i := 0; i < n; i += 4 { sum += a[i+3] }",
		"for i := i0; i < n; i += s { sum += a[i+s-1] }",
		"for i := 0; i <= n; i++ { sum += a[i] }",
		"for i := n - 1; i >= 0; i-- { sum += a[i] }",
		"for i := n; i > 0; i-- { sum += a[i-1] }",
		"for i := n - 1; i >= i0; i-- { sum += a[i*m] }",
		"for i := i0; i > 0; i -= 3 { sum += a[i] }",
		"for i := 0; i != n; i++ { sum += a[i] }",
		"for i := uint(0); i < uint(n); i++ { sum += a[i] }",
		"for i := int32(n); i >= 0; i -= 2 { sum += a[i] }",
		"for i := int16(0); i < 40; i++ { sum += a[i] }",
		"for i := uint8(200); i > 100; i-- { sum += a[i] }",
		"for i, k := 0, i0; i < n; i, k = i+1, k+m { sum += a[i] * b[k] }",
		"for i, k := n-1, i0; i >= 0; i, k = i-1, k-2 { sum += a[i] * b[k] }",
		"for i, k := i0, n-1; i < k; i, k = i+1, k-1 { sum += a[i] * a[k] }",
		"for i := range n { sum += a[(i-1+n)%n] }",
		"for i := range n { sum += a[i*i&m] }",
	}
	source := "package k\n\nimport \"github.com/gopherwarp/gopherwarp/gpu\"\n"
	for i, loop := range loops {
		source += fmt.Sprintf(`
//gpu:kernel
//gpu:block 64
func f%02d(t gpu.Thread, a, b []float32, n, m, s int) {
	sum, i0 := float32(0), t.GlobalX()
	%s
	b[i0] = sum
}
`, i, loop)
	}
	kernels := compileAll(t, source)
	for i, loop := range loops {
		t.Run(loop, func(t *testing.T) {
			k := kernels[fmt.Sprintf("f%02d", i)]
			if loops, checks := hotLoops(k); loops == 0 || checks > 0 {
				t.Errorf("%d checks in %d loops", checks, loops)
			}
		})
	}
}

// hotLoops counts the innermost loops without checks, and the checks in others that are not cold.
func hotLoops(k *compile.Kernel) (free, checks int) {
	for _, l := range analysis.Loops(ir.Dominators(k.IR)) {
		n := 0
		for _, b := range l.Blocks {
			for _, v := range b.Values {
				if v.Op == ir.OpCheck {
					n++
				}
			}
			for _, s := range b.Succs {
				if s.Cold && !b.Cold {
					n++
				}
			}
		}
		switch {
		case l.Header.Cold:
		case n == 0:
			free++
		default:
			checks += n
		}
	}
	return free, checks
}
