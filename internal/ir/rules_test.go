package ir_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// TestRules changes one thing at a time in every operation of testdata/operations.ir: the type of its result or of an
// argument, its immediate, or the number of its arguments. testdata/rules.txt has how many of the changed operations the
// verifier accepts.
func TestRules(t *testing.T) {
	text, err := os.ReadFile("testdata/operations.ir")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ir.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var report strings.Builder
	for _, f := range m.Funcs {
		if err := ir.Verify(f); err != nil {
			t.Errorf("%v\n%v", err, f)
			continue
		}
		fmt.Fprintf(&report, "%s: %s\n", f.Name, accepted(f))
	}
	if *update {
		if err := os.WriteFile("testdata/rules.txt", []byte(report.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile("testdata/rules.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), report.String()); diff != "" {
		t.Errorf("testdata/rules.txt (-want +got; -update accepts)\n%s", diff)
	}
}

// TestOperationsHaveRules demands that each operation that is no part of the control flow is in testdata/operations.ir.
func TestOperationsHaveRules(t *testing.T) {
	text, err := os.ReadFile("testdata/operations.ir")
	if err != nil {
		t.Fatal(err)
	}
	special := []ir.Op{ir.OpPhi, ir.OpVar, ir.OpPrint, ir.OpCall}
	for op := ir.OpConst; op < ir.OpJump; op++ {
		if !slices.Contains(special, op) && !strings.Contains(string(text), "func "+op.String()+"0(") {
			t.Errorf("%v is missing", op)
		}
	}
}

// TestConvergent demands that no pass may separate the threads that perform an operation together.
func TestConvergent(t *testing.T) {
	together := []ir.Op{
		ir.OpBarrier, ir.OpBarrierCount, ir.OpBarrierAnd, ir.OpBarrierOr, ir.OpGridBarrier, ir.OpClusterBarrier, ir.OpWarpBarrier,
		ir.OpBallot, ir.OpMatch, ir.OpShuffle, ir.OpShuffleUp, ir.OpShuffleDown, ir.OpShuffleXor, ir.OpWarpReduce,
		ir.OpLoadMatrix, ir.OpStoreMatrix, ir.OpMMA, ir.OpWGMMA, ir.OpWGMMATiles, ir.OpWGMMAFence, ir.OpWGMMACommit, ir.OpWGMMAWait,
		ir.OpSetMaxNReg,
	}
	for op := ir.OpConst; op < ir.OpJump; op++ {
		if got, want := op.Convergent(), slices.Contains(together, op); got != want {
			t.Errorf("%v: threads perform it together: %v", op, got)
		}
		if op.Convergent() && !op.Effect() {
			t.Errorf("%v may be removed", op)
		}
	}
}

// ruleTypes are the types that results and arguments are given.
var ruleTypes = []*ir.Type{
	ir.Void, ir.I1, ir.I8, ir.I16, ir.I32, ir.I64, ir.F32, ir.F64, ir.Ptr, ir.PtrTo(ir.Global), ir.PtrTo(ir.Shared), ir.Slice,
	ir.ArrayOf(4, ir.F32), ir.ArrayOf(8, ir.F32), ir.ArrayOf(6, ir.F32), ir.ArrayOf(128, ir.F32), ir.ArrayOf(132, ir.F32),
	ir.ArrayOf(0, ir.F32), ir.ArrayOf(1, ir.I32), ir.ArrayOf(2, ir.I32), ir.ArrayOf(3, ir.I32), ir.ArrayOf(4, ir.I32), ir.ArrayOf(4, ir.F64),
}

// accepted changes the operation of f, the last value before its return, and returns how often the verifier accepts it.
func accepted(f *ir.Func) string {
	b := f.Blocks[0]
	v := b.Values[len(b.Values)-2]
	n := map[string]int{}
	try := func(what string, change func(v *ir.Value)) {
		g := f.Clone()
		b := g.Blocks[0]
		v := b.Values[len(b.Values)-2]
		b.Values = b.Values[:len(b.Values)-2]
		for i, a := range v.Args { // arguments of their own, so that their types can change
			if a.Op != ir.OpConst {
				v.Args[i] = g.NewParam(a.Type, int64(len(g.Params)))
			}
		}
		change(v)
		b.Values = append(b.Values, v)
		b.Append(ir.OpRet, ir.Void)
		if ir.Verify(g) == nil {
			n[what]++
		}
	}
	for _, t := range ruleTypes {
		try("results", func(v *ir.Value) { v.Type = t })
		for i := range v.Args {
			try("arguments", func(v *ir.Value) { v.Args[i] = v.Block.Func.NewParam(t, int64(len(v.Block.Func.Params))) })
		}
	}
	for imm := int64(-260); imm <= 260; imm++ {
		try("immediates", func(v *ir.Value) { v.Imm = imm })
	}
	if len(v.Args) > 0 {
		try("fewer", func(v *ir.Value) { v.Args = v.Args[1:] })
		try("more", func(v *ir.Value) { v.Args = append(v.Args[:len(v.Args):len(v.Args)], v.Args[len(v.Args)-1]) })
	}
	return fmt.Sprintf("%d results, %d arguments, %d immediates, %d with fewer arguments, %d with more",
		n["results"], n["arguments"], n["immediates"], n["fewer"], n["more"])
}
