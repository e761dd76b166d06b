package pass

import (
	"errors"
	"fmt"
	"slices"
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

// ErrRecursive is the cause where a function that is to be inlined calls itself.
var ErrRecursive = errors.New("recursive calls cannot be inlined")

// Compile returns an optimised copy of kernel without calls and without values of
// aggregate type. Neither m nor kernel changes. It fails for recursive calls and for a
// name in Disable that is no optional pass.
func Compile(m *ir.Module, kernel *ir.Func, o Options) (*ir.Func, error) {
	if err := checkDisabled(o.Disable); err != nil {
		return nil, err
	}
	if cycle := recursion(kernel); cycle != "" {
		return nil, fmt.Errorf("%s: %s calls itself: %w", kernel.Name, cycle, ErrRecursive)
	}
	f := cloneFunc(kernel)
	f.Narrow = f.Narrow || o.Narrow
	if o.Dump != nil {
		o.Dump("", f)
	}
	for _, s := range pipeline {
		if !slices.Contains(o.Disable, s.name) {
			s.apply(f, &o)
		}
	}
	return f, nil
}

// Passes returns the names of all passes in the order of their first run.
func Passes() []string {
	var names []string
	for _, s := range pipeline {
		if !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
	}
	return names
}

func checkDisabled(names []string) error {
	for _, name := range names {
		i := slices.IndexFunc(pipeline, func(s step) bool { return s.name == name })
		if i < 0 {
			return fmt.Errorf("there is no pass %q", name)
		}
		if pipeline[i].required {
			return fmt.Errorf("pass %q is required", name)
		}
	}
	return nil
}

// apply runs the step and does all that surrounds it.
func (s step) apply(f *ir.Func, o *Options) {
	start := time.Now()
	s.run(f, o)
	if o.Time != nil {
		o.Time(s.name, time.Since(start))
	}
	if o.Dump != nil {
		o.Dump(s.name, f)
	}
	if o.Verify {
		if err := ir.Verify(f); err != nil {
			panic(fmt.Sprintf("BUG: pass: after %s: %v\n%v", s.name, err, f))
		}
	}
}
