package pass

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// ErrRecursive is wrapped by errors for functions that cannot be inlined because they call
// themselves.
var ErrRecursive = errors.New("recursive calls cannot be inlined")

// Compiler compiles one kernel several times, with different options. Passes at the start of the pipeline
// that several options have in common run only once, if a call of Compile lists the options of subsequent
// calls.
type Compiler struct {
	kernel *ir.Func
	states map[string]*ir.Func // by what has led there
	check  ir.Verifier
}

// NewCompiler returns a compiler for kernel. It returns an error for recursive calls.
func NewCompiler(kernel *ir.Func) (*Compiler, error) {
	if cycle := recursion(kernel); cycle != "" {
		return nil, fmt.Errorf("%s: %s calls itself: %w", kernel.Name, cycle, ErrRecursive)
	}
	return &Compiler{kernel: kernel, states: map[string]*ir.Func{}}, nil
}

// Compile returns an optimized copy of the kernel without calls and without values of aggregate type. It
// does not modify the kernel. It returns an error for a name in Disable that is not an optional pass.
// later lists the options of subsequent calls; only shared prefixes of the pipeline are cached.
func (c *Compiler) Compile(o Options, later ...Options) (*ir.Func, error) {
	if err := checkDisabled(o.Disable); err != nil {
		return nil, err
	}
	var kept []int // steps
	for _, l := range later {
		kept = append(kept, o.parting(&l))
	}
	f, first := c.start(o)
	f.Narrow = f.Narrow || o.Narrow
	if o.Dump != nil {
		o.Dump("", f)
	}
	for i, s := range pipeline[first:] {
		if i > 0 && slices.Contains(kept, first+i) {
			c.states[o.path(first+i)] = f.Clone()
		}
		if !slices.Contains(o.Disable, s.name) {
			s.apply(f, &o, &c.check)
			if o.Compact && first+i >= compacting {
				compact(f)
			}
		}
	}
	return f, nil
}

// compacting is the step from which on functions may be compacted. Those before it are shared with options that do not
// want that.
var compacting = slices.IndexFunc(pipeline, func(s step) bool { return s.name == "unroll" })

// manyIDs is the number of IDs from which on gaps in them cost more than they help who reads dumps.
const manyIDs = 1000

// compact closes the gaps that passes have left between the IDs of a large function, where these are most of it.
func compact(f *ir.Func) {
	n := len(f.Params)
	for _, b := range f.Blocks {
		n += len(b.Values)
	}
	if f.NumValues() > max(manyIDs, 2*n) {
		f.Compact()
	}
}

// start returns a function that the first steps of the pipeline have been applied to, and how many.
func (c *Compiler) start(o Options) (f *ir.Func, steps int) {
	for i := len(pipeline) - 1; i > 0 && o.Dump == nil; i-- {
		if !isFork(i) {
			continue
		}
		if f := c.states[o.path(i)]; f != nil {
			f = f.Clone()
			f.Narrow = c.kernel.Narrow
			return f, i
		}
	}
	return edit.CloneFunc(c.kernel), 0
}

// isFork reports whether step i is the first of its name that does not do the same for all options.
func isFork(i int) bool {
	name := pipeline[i].name
	_, ok := forks[name]
	return ok && i == slices.IndexFunc(pipeline, func(s step) bool { return s.name == name })
}

// parting returns the last step that another Compile can start from with what o has led to.
func (o *Options) parting(other *Options) int {
	for i := len(pipeline) - 1; i > 0; i-- {
		if isFork(i) && o.path(i) == other.path(i) {
			return i
		}
	}
	return 0
}

// path describes what the options make of the steps before step i.
func (o *Options) path(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", i)
	for k, s := range pipeline[:i] {
		switch reads := forks[s.name]; {
		case slices.Contains(o.Disable, s.name):
			fmt.Fprintf(&b, " -%s", s.name)
		case reads != nil && isFork(k):
			fmt.Fprintf(&b, " %v", reads(o))
		}
	}
	return b.String()
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
func (s step) apply(f *ir.Func, o *Options, check *ir.Verifier) {
	start := time.Now()
	s.run(f, o)
	if o.Time != nil {
		o.Time(s.name, time.Since(start))
	}
	if o.Dump != nil {
		o.Dump(s.name, f)
	}
	if o.Verify {
		if err := check.Verify(f); err != nil {
			panic(fmt.Sprintf("BUG: pass: after %s: %v\n%v", s.name, err, f))
		}
	}
}
