package pass

import (
	"time"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Options says how Compile works.
type Options struct {
	// Contract allows x*y+z to be rounded once. The result then differs in the last bits
	// from what the same Go code computes on a machine without such an instruction.
	Contract bool
	// Narrow compiles for launches whose integers fit 32 bits, see ir.Func.Narrow.
	Narrow bool
	// Coarse lets a thread do several neighbouring elements where that is faster, for narrow
	// launches whose grid has one dimension. The result says so, see ir.Func.Coarse.
	Coarse bool
	// Wide joins accesses side by side into loads and stores of arrays of up to 16 bytes, for
	// back ends that align variables by analysis.VariableAlign.
	Wide bool
	// Aligned compiles for launches whose slices start at multiples of 16. The result says whether
	// it makes use of that, see ir.Func.Aligned.
	Aligned bool
	// Unroll copies the bodies of sums of up to sixteen terms, too, for back ends that nobody does so behind.
	Unroll bool
	// Compact closes gaps between the IDs of large functions, which makes tables by ID shorter. It is not for back ends
	// that make names of IDs, which would be others after every change of a pass.
	Compact bool
	// Verify checks the function after every pass; a mistake panics.
	Verify bool
	// Disable names passes that are left out. Required passes cannot be.
	Disable []string
	// Dump, where not nil, is called with the function before the first pass (the name is
	// then "") and after each.
	Dump func(pass string, f *ir.Func)
	// Time, where not nil, is called with the time that each pass took.
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
