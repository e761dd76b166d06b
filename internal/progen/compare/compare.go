package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/progen"
	"github.com/gopherwarp/gopherwarp/internal/progen/trial"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

// Report is what became of kernels.
type Report struct {
	Trials  []*trial.Trial // of each kernel
	Results []trial.Result // that are right
	Wrong   []string       // how each kernel differs, or what the compiler has against it, or ""
	Faulted int            // that faulted as they should
}

// add puts a report of other kernels behind r's.
func (r *Report) add(other Report) {
	r.Trials = append(r.Trials, other.Trials...)
	r.Results = append(r.Results, other.Results...)
	r.Wrong = append(r.Wrong, other.Wrong...)
	r.Faulted += other.Faulted
}

// maxBroken is how many kernels may fail to compile: to find them takes long, and with more of them
// the cause is none of a single kernel.
const maxBroken = 5

// oldest is the capability of the oldest GPU that there is code for.
var oldest = device.Capability{Major: 7}

// Kernels compares what the kernels leave. An error is one of the surroundings.
func (c *Comparer) Kernels(ctx context.Context, list []progen.Kernel) (Report, error) {
	if len(list) == 0 {
		return Report{}, nil
	}
	if err := c.place(list); err != nil {
		return Report{}, err
	}
	r := Report{Wrong: make([]string, len(list))}
	for _, k := range list {
		r.Trials = append(r.Trials, trial.Of(k))
	}
	var native sync.WaitGroup
	var nativeErr error
	if !c.Contracted {
		trials := slices.Clone(r.Trials)
		for i, t := range trials {
			copied := *t
			trials[i] = &copied
		}
		native.Go(func() { r.Results, nativeErr = c.native(ctx, trials) })
	}
	wrong := c.compile(ctx, r.Trials)
	native.Wait()
	if nativeErr != nil {
		return r, nativeErr
	}
	if wrong != nil && len(list) > 1 && ctx.Err() == nil { // somebody's fault: try the halves
		half := len(list) / 2
		first, err := c.Kernels(ctx, list[:half])
		if err != nil {
			return r, err
		}
		second, err := c.Kernels(ctx, list[half:])
		first.add(second)
		return first, err
	}
	if wrong != nil {
		if c.broken++; c.broken > maxBroken {
			return r, fmt.Errorf("compare: %d kernels do not compile, of which this is one: %w", c.broken, wrong)
		}
		r.Wrong[0] = wrong.Error()
		if r.Results == nil {
			r.Results = make([]trial.Result, 1) // unknown, where the code for small launches is compared
		}
		return r, ctx.Err()
	}
	return r, c.interpret(&r)
}

// compile adds to the trials what our compiler makes of the kernels.
func (c *Comparer) compile(ctx context.Context, trials []*trial.Trial) error {
	contract := compile.ContractOff
	if c.Contracted {
		contract = compile.ContractOn
	}
	result, err := compile.Build(ctx, compile.Options{Dir: c.dir, Patterns: []string{"./" + kernels}, Contract: contract, Twins: compile.TwinsNone})
	if err != nil {
		return err
	}
	if err := result.Diagnostics.Err(); err != nil {
		return err
	}
	compiled := map[string]*device.Kernel{}
	for _, p := range result.Packages {
		for _, k := range p.Kernels {
			compiled[k.Name] = k.Kernel
		}
	}
	for _, t := range trials {
		k := compiled[t.Kernel.Name]
		if k == nil || k.ParamBytes != t.Kernel.ParamBytes {
			return errors.New("compare: the compiler has another idea of the parameters of " + t.Kernel.Name)
		}
		t.Compiled(k)
	}
	return nil
}

// machines are the interpreters that kernels run on: of an old GPU, which runs the code for all
// launches, and of a new one, which runs that for small ones.
func (c *Comparer) machines() (devices []*device.Device, err error) {
	checks := ptxinterp.Checked().Checks
	for _, o := range []ptxinterp.Options{
		{Wide: true, Seed: 99, Capability: oldest, Checks: checks},
		{Checks: checks},
	} {
		dev, err := ptxinterp.OpenWith(o)
		if err != nil {
			return nil, err
		}
		devices = append(devices, dev)
	}
	return devices, nil
}

// interpret runs the compiled trials.
func (c *Comparer) interpret(r *Report) error {
	if c.Contracted {
		r.Results = make([]trial.Result, len(r.Trials))
	}
	err := trial.Each(len(r.Trials), func() (func(int), error) {
		devices, err := c.machines()
		return func(i int) {
			t := r.Trials[i]
			for j, dev := range devices {
				if _, ok := t.Kernel.Variant(dev.Info().Capability, device.Fit{}); !ok {
					continue // it needs a newer GPU
				}
				got := t.On(dev)
				if c.Contracted && (j == 0 || r.Results[i].Empty()) {
					r.Results[i] = got
				}
				d := t.Differs(r.Results[i], got)
				if less := t.Lesser(); d == "" && less != nil {
					d = t.Differs(r.Results[i], less.On(dev))
				}
				if d != "" && r.Wrong[i] == "" {
					r.Wrong[i] = dev.Info().Capability.String() + ": " + d
				}
			}
		}, err
	})
	for _, result := range r.Results {
		if result.Fault != "" {
			r.Faulted++
		}
	}
	return err
}
