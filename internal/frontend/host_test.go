package frontend_test

import (
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/frontend"
)

const approximate = `package approximate

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

//gpu:kernel
func k(t gpu.Thread, x []float32) {
	x[0] = math32.Hypot(x[0], x[1]) + math32.Rsqrt(x[0]) + math32.Atan(x[0])
	x[1] = math32.FastExp(x[0]) + math32.FastPow(x[0], 2) + math32.FastTanh(x[0]) + math32.FastDiv(1, x[0])
}
`

// TestHost lowers functions of package math32 for a GPU and for a CPU, which knows no approximations.
func TestHost(t *testing.T) {
	kernels, _, err := theWorld().kernels("approximate.go", approximate)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []bool{false, true} {
		kernels[0].Host = host
		m, found := frontend.Build(kernels)
		if len(found) > 0 {
			t.Fatal(found)
		}
		if got := slices.ContainsFunc(m.Funcs, frontend.Approximates); got == host {
			t.Errorf("Host %t: a function approximates: %t", host, got)
		}
	}
}
