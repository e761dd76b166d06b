package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

// Report is what became of kernels.
type Report struct {
	Trials  []*trial.Trial // of each kernel
	Results []trial.Result // that are right
	Wrong   []string       // how each kernel differs, or what a compiler has against it, or ""
	Refused []bool         // by a compiler
	Invalid []bool         // refused by Go's own compiler or linker, also without twins
	Faulted int            // that faulted as they should
	Twins   int            // that ran as twins, too
	Fused   Fused
	OnGPU   int    // that ran on a GPU, too
	Device  string // the GPU's name
}

// Fused is what became of the floats of contracted kernels that compute bounds of their errors.
type Fused struct {
	Compared int // with those of Go's own compiler
	Changed  int // of these, those that differ, within their bounds
}

// newReport returns a report of trials that have not been run.
func newReport(trials []*trial.Trial) Report {
	return Report{Trials: trials, Wrong: make([]string, len(trials)), Refused: make([]bool, len(trials)), Invalid: make([]bool, len(trials)), Results: make([]trial.Result, len(trials))}
}

// add puts a report of other kernels after r's.
func (r *Report) add(other Report) {
	r.Trials = append(r.Trials, other.Trials...)
	r.Results = append(r.Results, other.Results...)
	r.Wrong = append(r.Wrong, other.Wrong...)
	r.Refused = append(r.Refused, other.Refused...)
	r.Invalid = append(r.Invalid, other.Invalid...)
	r.Faulted += other.Faulted
	r.Twins += other.Twins
	r.OnGPU += other.OnGPU
	r.Fused.Compared += other.Fused.Compared
	r.Fused.Changed += other.Fused.Changed
	r.Device = cmp.Or(r.Device, other.Device)
}

// Kernels compares what the kernels leave. An error is one of the surroundings.
func (c *Comparer) Kernels(ctx context.Context, list []progen.Kernel) (Report, error) {
	c.broken = cmp.Or(c.MayRefuse, len(list)/8+5)
	return c.kernels(ctx, list)
}

func (c *Comparer) kernels(ctx context.Context, list []progen.Kernel) (Report, error) {
	if len(list) == 0 {
		return Report{}, nil
	}
	if err := c.place(list); err != nil {
		return Report{}, err
	}
	var trials []*trial.Trial
	for _, k := range list {
		t := trial.Of(k)
		t.Patience = c.Patience
		trials = append(trials, t)
	}
	r := newReport(trials)
	wrong := c.make(ctx, &r)
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case wrong == nil:
		return r, c.compare(ctx, &r)
	case len(list) > 1: // somebody's fault: try the halves
		half := len(list) / 2
		first, err := c.kernels(ctx, list[:half])
		if err != nil {
			return r, err
		}
		second, err := c.kernels(ctx, list[half:])
		first.add(second)
		return first, err
	}
	if c.broken--; c.broken < 0 {
		return r, fmt.Errorf("compare: too many kernels are refused; one of them: %w", wrong)
	}
	r.Wrong[0], r.Refused[0], r.Invalid[0] = wrong.Error(), true, c.invalid(ctx, list)
	return r, nil
}

// invalid reports whether Go's own compiler or linker refuses the kernels as they are, without what our compiler makes of them:
// there are limits, such as that of a stack frame, that a check of types does not know.
func (c *Comparer) invalid(ctx context.Context, list []progen.Kernel) bool {
	if c.tools == nil || c.place(list) != nil || c.placeTwins(nil, nil) != nil {
		return false
	}
	_, err := c.tools.program(ctx)
	return err != nil
}

// make has the kernels compiled, by our compiler and by Go's own, and runs what the latter made.
func (c *Comparer) make(ctx context.Context, r *Report) error {
	files, err := c.compile(ctx, r.Trials)
	if err != nil || c.Contracted && !slices.ContainsFunc(r.Trials, (*trial.Trial).Bounded) {
		return err
	}
	if err := c.placeTwins(files, r.Trials); err != nil {
		return err
	}
	return c.native(ctx, r)
}

// compare runs the trials wherever else they can be run.
func (c *Comparer) compare(ctx context.Context, r *Report) error {
	if err := c.interpret(r); err != nil || c.GPU == "" {
		return err
	}
	return c.onGPU(ctx, r)
}

// options are those of every build.
func (c *Comparer) options() compile.Options {
	return compile.Options{Dir: c.dir, Patterns: []string{"./" + kernels}, Contract: compile.ContractOff, Twins: compile.TwinsAll, Verify: true}
}

// compile adds to the trials what our compiler makes of the kernels, and returns the files for the
// package.
func (c *Comparer) compile(ctx context.Context, trials []*trial.Trial) ([]compile.File, error) {
	o := c.options()
	if c.Contracted {
		o.Contract, o.Twins = compile.ContractOn, compile.TwinsNone
	}
	result, err := compile.Build(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := result.Diagnostics.Err(); err != nil {
		return nil, err
	}
	compiled := map[string]*driver.Kernel{}
	var files []compile.File
	for _, p := range result.Packages {
		for _, k := range p.Kernels {
			compiled[k.Name] = k.Kernel
		}
		files = append(files, p.Files...)
	}
	for _, t := range trials {
		k := compiled[t.Kernel.Name]
		if k == nil || k.ParamBytes != t.Kernel.ParamBytes {
			return nil, errors.New("compare: the compiler has another idea of the parameters of " + t.Kernel.Name)
		}
		t.Compiled(k)
	}
	return files, nil
}

// interpret runs the compiled trials.
func (c *Comparer) interpret(r *Report) error {
	deviations := make([]trial.Deviation, len(r.Trials))
	err := trial.Each(len(r.Trials), func() (func(int), error) {
		interpreters, err := newInterpreters()
		return func(i int) {
			if r.Results[i].Endless || r.Wrong[i] != "" && r.Results[i].Empty() { // where the program ended there is nothing to compare with
				return
			}
			native := r.Results[i]
			if c.Contracted { // they must agree with each other
				r.Results[i] = trial.Result{}
			}
			how, right := interpreters.run(r.Trials[i], r.Results[i])
			r.Results[i] = right
			if r.Wrong[i] == "" {
				r.Wrong[i] = how
			}
			if c.Contracted && !native.Empty() && r.Trials[i].Bounded() {
				deviations[i] = r.Trials[i].Within(native, right)
			}
		}, err
	})
	for i, d := range deviations {
		if r.Wrong[i] == "" && d.Wrong != "" {
			r.Wrong[i] = "contracted: " + d.Wrong
		}
		r.Fused.Compared += d.Compared
		r.Fused.Changed += d.Changed
	}
	for _, result := range r.Results {
		if result.Fault != "" {
			r.Faulted++
		}
	}
	return err
}
