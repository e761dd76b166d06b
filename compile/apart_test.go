package compile_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestApart compiles kernels of a few lines and counts what their loops do in launches whose slices do not overlap.
func TestApart(t *testing.T) {
	cases := []struct {
		name, kernel  string
		loads, stores int
	}{
		{"sum in memory", `func f(t gpu.Thread, a, sums []float32, n int) {
	i := t.GlobalX()
	for k := range n {
		sums[i] += a[k]
	}
}`, 2, 0}, // of four elements, and of one that remains
		{"factor in memory", `func f(t gpu.Thread, a, b []float32, n int) {
	for k := t.GlobalX(); k < n; k += t.GridDimX() * t.BlockDimX() {
		b[k] *= a[0]
	}
}`, 1, 1},
		{"two sums, of which one is the other's factor", `func f(t gpu.Thread, a, x, y []float32, n int) {
	i := t.GlobalX()
	for k := range n {
		x[i] += a[k*n+i]
		y[i] += a[k*n+i] * x[i]
	}
}`, 5, 0},
	}
	var kernels []string
	for _, c := range cases {
		kernels = append(kernels, c.kernel)
	}
	compiled := inOnePackage(t, "//gpu:kernel\n//gpu:block 64\n", kernels)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			loads, stores := apart(compiled[i])
			if loads != c.loads || stores != c.stores {
				t.Errorf("%d loads and %d stores in loops, want %d and %d", loads, stores, c.loads, c.stores)
			}
		})
	}
}

// apart counts global loads and stores in the loops of the code for slices that do not overlap, without blocks that check.
func apart(k *compile.Kernel) (loads, stores int) {
	for _, l := range analysis.Loops(ir.Dominators(k.IR)) {
		for _, b := range l.Blocks {
			n := map[ir.Op]int{}
			for _, v := range b.Values {
				n[v.Op]++
			}
			if b.Apart && !b.Cold && n[ir.OpCheck] == 0 {
				loads, stores = loads+n[ir.OpLoad], stores+n[ir.OpStore]
			}
		}
	}
	return loads, stores
}
