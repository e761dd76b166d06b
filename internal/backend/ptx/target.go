package ptx

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// base has all that every kernel needs: atomics and fences with a scope, threads of a warp
// that go their own ways. ampere has copies that run beside the threads.
var (
	base   = device.Capability{Major: 7, Minor: 0}
	ampere = device.Capability{Major: 8, Minor: 0}
)

// headers are the lowest version and the target for what is emitted. 64-bit addresses are the
// only ones that drivers still take.
var headers = map[device.Capability]string{
	base:   ".version 6.0\n.target sm_70\n.address_size 64\n",
	ampere: ".version 7.0\n.target sm_80\n.address_size 64\n",
}

// Targets returns the compute capabilities from which on the code of f differs, lowest first:
// a variant for each is all that there is to have.
func Targets(f *ir.Func) []device.Capability {
	if uses(f, func(op ir.Op) bool { return op == ir.OpCopyAsync }) {
		return []device.Capability{base, ampere}
	}
	return []device.Capability{base}
}
