package compile

import (
	"fmt"
	"sync/atomic"
)

// Step is the current step of a build.
type Step struct {
	What        string // "compiling kernels"
	Done, Total int    // numbers of kernels; 0 for a step without numbers
}

// String returns "compiling kernels: 2 of 40".
func (s Step) String() string {
	if s.Total == 0 {
		return s.What
	}
	return fmt.Sprintf("%s: %d of %d", s.What, s.Done, s.Total)
}

// progress reports the steps of a build.
type progress struct {
	report func(Step) // or nil
	total  int
	done   atomic.Int64
}

// step reports the beginning of a step.
func (p *progress) step(what string) {
	if p.report != nil {
		p.report(Step{What: what})
	}
}

// expect sets the number of kernels to compile.
func (p *progress) expect(units []*unit) {
	for _, u := range units {
		if u.wanted && u.kept == nil {
			for _, k := range u.decl.Kernels {
				p.total += len(k.Instances)
			}
		}
	}
}

// kernel reports that one more kernel is compiled. Several goroutines may call it.
func (p *progress) kernel() {
	n := int(p.done.Add(1))
	if p.report != nil {
		p.report(Step{What: "compiling kernels", Done: n, Total: p.total})
	}
}
