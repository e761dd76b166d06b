package ir_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// loopWithTwoEntries has a loop, b3, that b1 and b2 enter.
const loopWithTwoEntries = `
func f(%0 i1, %1 i32) -> i32 {
b0:
	%6 = const i32 1
	if %0 b1 b2
b1: <- b0
	jump b3
b2: <- b0
	jump b3
b3: <- b1 b2 b3
	%5 = phi i32 %1, %1, %5
	%7 = phi i32 %1, %6, %7
	if %0 b3 b4
b4: <- b3
	ret %7
}
`

// TestEditControlFlow checks the blocks that splits make, and that the function is valid after each.
func TestEditControlFlow(t *testing.T) {
	m, err := ir.Parse(loopWithTwoEntries)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Funcs[0]
	verify := func() {
		t.Helper()
		if err := ir.Verify(f); err != nil {
			t.Fatalf("%v\n%v", err, f)
		}
	}
	verify()
	b0, b1, b2, loop := f.Blocks[0], f.Blocks[1], f.Blocks[2], f.Blocks[3]

	p := loop.SplitPreds(func(p *ir.Block) bool { return p != loop })
	verify()
	if len(p.Preds) != 2 || p.Preds[0] != b1 || p.Preds[1] != b2 || len(p.Phis()) != 2 || p.Succs[0] != loop {
		t.Errorf("SplitPreds made\n%v", f)
	}
	if x := p.Phis()[1]; x.Args[0] != f.Params[1] || x.Args[1].Imm != 1 || loop.Phis()[1].Args[1] != x {
		t.Errorf("SplitPreds made the phi %v in\n%v", x.LongString(), f)
	}

	e := b0.SplitEdge(1)
	verify()
	if b0.Succs[1] != e || e.Succs[0] != b2 || b2.Preds[0] != e {
		t.Errorf("SplitEdge made\n%v", f)
	}

	rest := b0.Split(1)
	b0.Append(ir.OpJump, ir.Void)
	b0.AddEdge(rest)
	verify()
	if len(b0.Values) != 2 || rest.Term().Op != ir.OpIf || rest.Succs[0] != b1 || rest.Succs[1] != e || rest.Term().Block != rest {
		t.Errorf("Split made\n%v", f)
	}
}
