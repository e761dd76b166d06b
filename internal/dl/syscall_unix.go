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

// callFloats calls the function with all arguments that fit into registers; the function ignores
// those that it does not have. Integers and floating-point numbers are passed in different
// registers.
func callFloats(f *Frame, _ int) uintptr {
	var call func(a, b, c, d, e, g uintptr, x, y float64) uintptr
	purego.RegisterFunc(&call, f.Function)
	a := &f.Args
	return call(a[0], a[1], a[2], a[3], a[4], a[5], math.Float64frombits(f.Floats[0]), math.Float64frombits(f.Floats[1]))
}
