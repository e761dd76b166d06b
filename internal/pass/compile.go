package pass

import (
	"time"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Options configure Compile.
type Options struct {
	// Contract allows x*y+z to be rounded once. The result then differs in the last bits
	// from that of the same Go code on a machine without such an instruction.
	Contract bool
	// Narrow compiles for launches whose integers fit 32 bits, see ir.Func.Narrow.
	Narrow bool
	// Coarse lets a thread compute several adjacent elements where that is faster, for narrow
	// launches whose grid has one dimension. ir.Func.Coarse of the result is their number.
	Coarse bool
	// Wide joins adjacent accesses into loads and stores of arrays of up to 16 bytes, for
	// back ends that align variables by analysis.VariableAlign.
	Wide bool
	// Aligned compiles for launches whose slices start at multiples of 16 bytes. ir.Func.Aligned of
	// the result reports whether it relies on that.
	Aligned bool
	// Unroll also unrolls sums of up to sixteen terms, for back ends whose output no other compiler unrolls.
	Unroll bool
	// Compact closes gaps between the IDs of large functions, which makes tables by ID shorter. It is not for
	// back ends that derive names from IDs, as these names would change with every change of a pass.
	Compact bool
	// Verify checks the function after every pass; a mistake panics.
	Verify bool
	// Disable names passes that do not run. Required passes cannot be disabled.
	Disable []string
	// Dump, if not nil, is called with the function before the first pass, with the name "", and
	// after each pass.
	Dump func(pass string, f *ir.Func)
	// Time, if not nil, is called with the time that each pass took.
	Time func(pass string, d time.Duration)
}

// Compile returns an optimised copy of kernel without calls and without values of
// aggregate type. The kernel does not change. It fails for recursive calls and for a
// name in Disable that is no optional pass.
func Compile(kernel *ir.Func, o Options) (*ir.Func, error) {
	c, err := NewCompiler(kernel)
	if err != nil {
		return nil, err
	}
	return c.Compile(o)
}
