//go:build darwin || (linux && !amd64)

package dl

import (
	"math"

	"github.com/ebitengine/purego"
)

func syscallN(address uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(address, args...)
	return r
}

// callFloats calls the function as one with all arguments that fit into registers: it does not look at those
// that it does not have. Both kinds have registers of their own.
func callFloats(f *Frame, _ int) uintptr {
	var call func(a, b, c, d, e, g uintptr, x, y float64) uintptr
	purego.RegisterFunc(&call, f.Function)
	a := &f.Args
	return call(a[0], a[1], a[2], a[3], a[4], a[5], math.Float64frombits(f.Floats[0]), math.Float64frombits(f.Floats[1]))
}
