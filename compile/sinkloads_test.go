package compile_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestSinkLoads compiles kernels that copy a struct of which only some threads use fields, and counts the loads that all threads do, and
// those under a condition.
func TestSinkLoads(t *testing.T) {
	cases := []struct {
		body               string
		all, conditionally int
	}{
		{"if i%32 == 0 { out[i] = b.x * b.mass }", 0, 2},
		{"if i%32 == 0 { out[i] = b.x } else { out[i] = b.mass }", 0, 2},
		{"out[i] = b.x; if i%32 == 0 { out[i] = b.mass }", 2, 0}, // both are on their way at the same time
		{"s := b.mass; for k := range n { s += float32(k) }; if i%32 == 0 { out[i] = s }", 1, 0},
	}
	source := `package k

import "github.com/gopherwarp/gopherwarp/gpu"

type body struct{ x, y, z, mass float32 }
`
	for i, c := range cases {
		source += fmt.Sprintf(`
//gpu:kernel
func f%d(t gpu.Thread, bodies []body, out []float32, n int) {
	i := t.GlobalX() + t.GlobalY()
	b := bodies[i]
	%s
}
`, i, c.body)
	}
	kernels := unchecked(t, source)
	for i, c := range cases {
		t.Run(c.body, func(t *testing.T) {
			k := kernels[fmt.Sprint("f", i)]
			dom := ir.Dominators(k.IR)
			all, conditionally := 0, 0
			for _, b := range dom.Order() {
				skipped := slices.ContainsFunc(dom.Order(), func(x *ir.Block) bool { return x.Term().Op == ir.OpRet && !dom.Dominates(b, x) })
				for _, v := range b.Values {
					switch {
					case v.Op != ir.OpLoad:
					case skipped:
						conditionally++
					default:
						all++
					}
				}
			}
			if all != c.all || conditionally != c.conditionally {
				t.Errorf("all threads do %d loads, and some %d; want %d and %d:\n%v", all, conditionally, c.all, c.conditionally, k.IR)
			}
		})
	}
}
