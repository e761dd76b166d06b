package edit

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const counting = `
kernel k(%0 i32 @0) bytes 16 {
b0:
	%1 = const i32 0
	%2 = const i32 1
	jump b1
b1: <- b0 b1
	%3 = phi i32 %1, %4
	%4 = add i32 %3, %2
	%5 = slt i1 %4, %0
	if %5 b1 b2
b2: <- b1
	%6 = add i32 %4, %2
	ret
}
`

func parse(t *testing.T, text string) *ir.Func {
	m, err := ir.Parse(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	return m.Funcs[0]
}

// TestCopyLoop copies an iteration of a loop before the loop, with its sum, which is used after it.
func TestCopyLoop(t *testing.T) {
	f := parse(t, counting)
	l := analysis.Loops(ir.Dominators(f))[0]
	DemoteLiveOuts(l)
	c := NewCloner(f, f)
	c.CopyLoop(l)
	if err := ir.Verify(f); err != nil {
		t.Fatal(err)
	}
	first := c.Block(l.Header)
	if first == l.Header || len(first.Preds) != 1 || first.Preds[0] != f.Blocks[0] {
		t.Errorf("the copy is entered from %v, want b0", first.Preds)
	}
	if loops := analysis.Loops(ir.Dominators(f)); len(loops) != 1 || loops[0].Header != l.Header || len(l.Entries()) != 1 || l.Entries()[0] != first {
		t.Errorf("the loop is entered from %v, want the copy", l.Entries())
	}
}

// TestRemoveUnreachable removes the loop once the entry returns.
func TestRemoveUnreachable(t *testing.T) {
	f := parse(t, counting)
	f.Blocks[0].RemoveEdge(0)
	SetTerm(f.Blocks[0], ir.OpRet)
	RemoveUnreachable(f)
	if err := ir.Verify(f); err != nil || len(f.Blocks) != 1 {
		t.Errorf("%d blocks, error %v", len(f.Blocks), err)
	}
}
