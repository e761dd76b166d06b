package progen_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// exempt are operations and passes that neither the conformance suite nor random programs need to
// have, and why.
var exempt = map[string]string{
	"insert":      "the frontend does not make it; cases of the passes have it",
	"storematrix": "of sm_90: no case of the suite has it yet",
	"setmaxnreg":  "of sm_90: no case of the suite has it yet",
	"drop-unroll": "changes code for CPUs, which is not made here",
}

// TestEverythingIsHit looks whether every operation of the IR occurs in a kernel of the conformance suite or
// a random one, and whether every pass changes one.
func TestEverythingIsHit(t *testing.T) {
	if !sweep.Whole() {
		t.Skip("compiles the conformance suite, which takes long: runs in sweeps")
	}
	c, err := compare.New("../../..", compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var list []progen.Kernel
	for i := range 60 {
		list = append(list, progen.New(1, i))
	}
	for name, text := range progen.Package("kernels", list) {
		file := filepath.Join(c.Dir(), "kernels", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	h := &hits{ops: map[string]bool{}, passes: map[string]bool{}}
	for dir, pattern := range map[string]string{"../../..": "./internal/verify/conformance/...", c.Dir(): "./kernels"} {
		result, err := compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{pattern}, Twins: compile.TwinsNone, Trace: h.see})
		if err != nil {
			t.Fatal(err)
		}
		if err := result.Diagnostics.Err(); err != nil {
			t.Fatal(err)
		}
	}
	h.report(t)
}

// hits is what was seen: of passes, whether they changed something.
type hits struct {
	ops, passes map[string]bool
	last        string // the function as it was
	ended       bool   // a first kernel has come to its end, so that passes has all of them
}

func (h *hits) see(pass string, f *ir.Func) {
	for _, p := range f.Params {
		h.ops[p.Op.String()] = true
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			h.ops[v.Op.String()] = true
		}
	}
	if h.ended && !slices.Contains(slices.Collect(maps.Values(h.passes)), false) {
		return
	}
	now := f.String()
	if pass == "" {
		h.ended = len(h.passes) > 0
	} else {
		h.passes[pass] = h.passes[pass] || h.last != now
	}
	h.last = now
}

func (h *hits) report(t *testing.T) {
	for _, op := range ir.Ops() {
		if !h.ops[op.String()] && exempt[op.String()] == "" {
			t.Errorf("operation %v occurs in no kernel: have the suite or random programs use it, or say in exempt why not", op)
		}
	}
	for pass, changed := range h.passes {
		if !changed && exempt[pass] == "" {
			t.Errorf("pass %s changes no kernel", pass)
		}
	}
	for name := range exempt {
		if h.ops[name] || h.passes[name] {
			t.Errorf("%s is exempt but occurs", name)
		}
	}
}
