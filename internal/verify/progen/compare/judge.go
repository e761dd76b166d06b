package compare

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// Verdict is what the compiler says of a kernel.
type Verdict struct {
	Diagnostics diag.List // why it is refused; empty if it is not
	Failure     string    // of the compiler: an internal error, or no diagnostic for a kernel that has no code; or ""
}

// Judge compiles the kernels and runs none of them. An error is one of the surroundings.
func (c *Comparer) Judge(ctx context.Context, list []progen.Kernel) ([]Verdict, error) {
	verdicts := make([]Verdict, len(list))
	if len(list) == 0 {
		return nil, nil
	}
	if err := c.place(list); err != nil {
		return nil, err
	}
	o := c.options()
	o.Twins = compile.TwinsNone // which Kernels compiles
	result, err := compile.Build(ctx, o)
	if _, ours := errors.AsType[*compile.InternalError](err); ours && len(list) == 1 {
		verdicts[0].Failure = err.Error()
		return verdicts, nil
	} else if ours {
		return c.judgeHalves(ctx, list)
	}
	if err != nil {
		return nil, err
	}
	compiled := map[string]bool{}
	for _, p := range result.Packages {
		for _, k := range p.Kernels {
			compiled[k.Name] = true
		}
	}
	for i, k := range list {
		if compiled[k.Name] {
			continue
		}
		if verdicts[i], err = c.refusal(ctx, k, list, result.Diagnostics); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// judgeHalves judges the halves of a list that the compiler fails on.
func (c *Comparer) judgeHalves(ctx context.Context, list []progen.Kernel) ([]Verdict, error) {
	half := len(list) / 2
	first, err := c.Judge(ctx, list[:half])
	if err != nil {
		return nil, err
	}
	second, err := c.Judge(ctx, list[half:])
	return append(first, second...), err
}

// refusal returns why a kernel of the list is not compiled. What is reported elsewhere than in its own file, in a package
// that it imports, may be about another kernel; so may an error in Go, after which nothing is compiled. It is then judged alone.
func (c *Comparer) refusal(ctx context.Context, k progen.Kernel, list []progen.Kernel, all diag.List) (v Verdict, err error) {
	for _, d := range all {
		if len(list) == 1 || d.Code != diag.GoError && strings.TrimSuffix(filepath.Base(d.Pos.Filename), ".go") == k.Name {
			v.Diagnostics.Add(d)
		}
	}
	switch {
	case len(v.Diagnostics) > 0:
		return v, nil
	case len(list) == 1:
		return Verdict{Failure: "the kernel is neither compiled nor refused"}, nil
	}
	alone, err := c.Judge(ctx, []progen.Kernel{k})
	if err != nil {
		return v, err
	}
	return alone[0], nil
}
