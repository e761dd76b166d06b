package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// Where NVIDIA's compiler for Vulkan (driver 580) knows that the upper word of x is 0, it takes the 64-bit number x > c ? x-c : 0 for a maximum
// with 0. Its code then computes only the lower word of the result, and that wrongly. A loop with this limit did not end. So the
// difference is hidden from the compiler.

// saturates reports whether the instruction, a selection, is an unsigned difference that is 0 instead of negative.
func (t *translator) saturates() bool {
	args := t.in.Args
	if t.typ(0).Size() != 8 || args[1].Kind != ptx.RegOperand || args[3].Kind != ptx.RegOperand {
		return false
	}
	if v, ok := args[2].As(ptx.B64); !ok || v != 0 {
		return false
	}
	difference, test := t.definition(args[1].Reg), t.definition(args[3].Reg)
	return difference != nil && (difference.Op == "add" || difference.Op == "sub") && test != nil && test.Op == "setp" && slices.Contains(test.Mods, "u64")
}
