package pass

import (
	"time"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Options configure Compile.
type Options struct {
	// Contract allows x*y+z to be fused, which rounds once. The result may then differ in the last
	// bits from that of the same Go code on a machine without such an instruction.
	Contract bool
	// Narrow compiles for launches whose integers fit in 32 bits; see ir.Func.Narrow.
	Narrow bool
	// Coarse lets a thread compute several adjacent elements if that is faster, for narrow launches
	// with a one-dimensional grid. ir.Func.Coarse of the result is the number of elements.
	Coarse bool
	// Wide combines adjacent accesses into loads and stores of arrays of up to 16 bytes, for back
	// ends that align variables to analysis.VariableAlign.
	Wide bool
	// Aligned compiles for launches whose slices start at multiples of 16 bytes. ir.Func.Aligned of
	// the result reports whether it relies on that.
	Aligned bool
	// Unroll also unrolls sums of up to sixteen terms, for back ends whose output no other compiler unrolls.
	Unroll bool
	// Compact removes gaps between the IDs of large functions, which makes tables indexed by ID shorter. It
	// is not for back ends that derive names from IDs, because these names would then depend on the passes.
	Compact bool
	// Verify verifies the function after every pass and panics if it is invalid.
	Verify bool
	// Disable names passes to skip. Required passes cannot be disabled.
	Disable []string
	// Dump, if not nil, is called with the function before the first pass, with the name "", and
	// after each pass.
	Dump func(pass string, f *ir.Func)
	// Time, if not nil, is called with the time that each pass took.
	Time func(pass string, d time.Duration)
}

// Compile returns an optimized copy of kernel without calls and without values of aggregate type.
// It does not modify kernel. It returns an error for recursive calls and for a name in Disable that
// is not an optional pass.
func Compile(kernel *ir.Func, o Options) (*ir.Func, error) {
	c, err := NewCompiler(kernel)
	if err != nil {
		return nil, err
	}
	return c.Compile(o)
}
