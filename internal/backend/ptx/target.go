package ptx

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// targets are the compute capabilities that code is emitted for, and the lowest versions of
// the ISA that have what is emitted for each. The first has atomics and fences with a scope,
// and threads of a warp that go their own ways.
var targets = [...]struct {
	capability device.Capability
	version    string
}{
	{device.Capability{Major: 7, Minor: 0}, "6.0"},
	{device.Capability{Major: 7, Minor: 5}, "6.5"},
	{device.Capability{Major: 8, Minor: 0}, "7.0"},
}

// better has the operations that need fewer instructions from a capability on.
var better = map[ir.Op]device.Capability{
	ir.OpFToBF16:   {Major: 8, Minor: 0},
	ir.OpCopyAsync: {Major: 8, Minor: 0},
}

// needs has the operations that there are only from a capability on.
var needs = map[ir.Op]device.Capability{
	ir.OpLoadMatrix: {Major: 7, Minor: 5},
	ir.OpMMA:        {Major: 8, Minor: 0},
	ir.OpFetchAsync: {Major: 8, Minor: 0},
}

// Targets returns the compute capabilities that f should be emitted for: the lowest that has all
// its operations, and behind it those where there is better code.
func Targets(f *ir.Func) []device.Capability {
	least, wanted := targets[0].capability, map[device.Capability]bool{}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if c, ok := needs[v.Op]; ok && atLeast(c, least) {
				least = c
			}
			if c, ok := better[v.Op]; ok {
				wanted[c] = true
			}
		}
	}
	list := []device.Capability{least}
	for _, t := range targets {
		if wanted[t.capability] && !atLeast(least, t.capability) {
			list = append(list, t.capability)
		}
	}
	return list
}

func atLeast(c, d device.Capability) bool {
	return c.Major > d.Major || c.Major == d.Major && c.Minor >= d.Minor
}

// header returns the first lines of a module. 64-bit addresses are the only ones that drivers
// still take.
func header(c device.Capability) string {
	for _, t := range targets {
		if t.capability == c {
			return fmt.Sprintf(".version %s\n.target sm_%d%d\n.address_size 64\n", t.version, c.Major, c.Minor)
		}
	}
	panic(fmt.Sprintf("BUG: ptx: no target %v", c))
}
