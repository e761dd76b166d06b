package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/verify/corpus"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/child"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

// patience is how long one launch of a kernel may take natively, and beyond how long the same takes on the interpreter
// that is wrong.
const patience = 10 * time.Second

// kind is a category of outcomes.
type kind string

// The kinds of outcomes, see the command's documentation.
const (
	right   kind = "right"
	refused kind = "refused"
	endless kind = "endless"
	invalid kind = "invalid"
	wrong   kind = "wrong"
)

// outcome is what became of a kernel.
type outcome struct {
	Number  int
	Kind    kind
	Codes   []string // of a refusal, in the order of the diagnostics
	Detail  string   // the first diagnostic, or what is wrong
	Faulted bool     // it is right and faults
}

func (o outcome) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %v %s", o.Kind, o.Codes, o.Detail))
}

// order is what a worker is asked for.
type order struct {
	Root    string
	Imports []string // of all kernels of the run
	Kernels []corpus.Kernel
}

// answer is what a worker says: the outcomes, or an error of the surroundings.
type answer struct {
	Outcomes []outcome
	Error    string
}

// work answers orders.
func work(ctx context.Context, r io.Reader, w io.Writer) error {
	orders, answers := gob.NewDecoder(r), gob.NewEncoder(w)
	for {
		var o order
		switch err := orders.Decode(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		var a answer
		outcomes, err := kernels(ctx, o)
		if a.Outcomes = outcomes; err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

// kernels has the compiler judge the kernels of an order, and compares the executions of those that it compiles.
func kernels(ctx context.Context, o order) ([]outcome, error) {
	c, err := compare.New(o.Root, compare.Options{MayRefuse: math.MaxInt, Imports: o.Imports, Patience: patience})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var list []progen.Kernel
	for _, k := range o.Kernels {
		list = append(list, k.Kernel)
	}
	verdicts, err := c.Judge(ctx, list)
	if err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(list))
	var compiled []progen.Kernel
	var which []int
	for i, v := range verdicts {
		outcomes[i] = judged(v)
		if outcomes[i].Kind == right {
			compiled, which = append(compiled, list[i]), append(which, i)
		}
		outcomes[i].Number = o.Kernels[i].Number
	}
	r, err := c.Kernels(ctx, compiled)
	if err != nil {
		return nil, err
	}
	for n, i := range which {
		if outcomes[i].compared(r.Results[n], r.Wrong[n]); r.Invalid[n] {
			outcomes[i].Kind = invalid
		}
	}
	return outcomes, nil
}

// judged returns the outcome of a verdict; kernels that are compiled are right so far.
func judged(v compare.Verdict) outcome {
	o := outcome{Kind: right}
	if v.Failure != "" {
		return outcome{Kind: wrong, Detail: v.Failure}
	}
	for _, d := range v.Diagnostics {
		if o.Kind = refused; !documented(d) {
			return outcome{Kind: wrong, Detail: "undocumented refusal: " + d.String()}
		}
		o.Codes = append(o.Codes, d.Code.String())
		if o.Detail == "" {
			d.Pos.Filename = filepath.Base(d.Pos.Filename)
			o.Detail = d.String()
		}
	}
	return o
}

// documented reports whether a diagnostic is one that a kernel of the corpus may get: it has a position, a sentence, and a code
// of the catalogue that is about kernel code. Kernels of the corpus are valid Go, and their signatures are valid.
func documented(d diag.Diagnostic) bool {
	return d.Pos.IsValid() && d.Message != "" && d.Code >= diag.LangMap && d.Code.Summary() != ""
}

// compared adds to the outcome of a kernel that is compiled how its executions differ.
func (o *outcome) compared(r trial.Result, how string) {
	switch {
	case r.Endless:
		o.Kind = endless
	case how != "":
		o.Kind, o.Detail = wrong, how
	default:
		o.Faulted = r.Fault != ""
	}
}

// newWorker returns a process that works.
func newWorker(self string) *child.Process {
	return &child.Process{Command: []string{self, "-worker"}, Env: []string{"GOMAXPROCS=1", "GOMEMLIMIT=2GiB"}}
}

// do has a worker do an order, for at most a time that depends on the number of kernels. If the worker fails, the halves are
// tried; a single kernel for which it fails is wrong.
func do(ctx context.Context, w *child.Process, o order) ([]outcome, error) {
	if err := w.Start(ctx, nil); err != nil {
		return nil, err
	}
	w.Patience = 2*time.Minute + time.Duration(len(o.Kernels))*5*time.Second
	var a answer
	err := w.Ask(o, &a)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && a.Error == "":
		return a.Outcomes, nil
	case err == nil:
		err = errors.New(a.Error)
	}
	if len(o.Kernels) == 1 {
		return []outcome{{Number: o.Kernels[0].Number, Kind: wrong, Detail: err.Error()}}, nil
	}
	half, rest := o, o
	half.Kernels, rest.Kernels = o.Kernels[:len(o.Kernels)/2], o.Kernels[len(o.Kernels)/2:]
	first, err := do(ctx, w, half)
	if err != nil {
		return nil, err
	}
	second, err := do(ctx, w, rest)
	return append(first, second...), err
}
