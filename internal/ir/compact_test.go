package ir_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestCompact closes the gaps between IDs and keeps their order.
func TestCompact(t *testing.T) {
	m, err := ir.Parse(`kernel gaps(%3 i32 @0) bytes 4 {
b2:
	%7 = const i32 1
	%9 = eq i1 %3, %7
	if %9 b5 b8
b5: <- b2
	jump b8
b8: <- b2 b5
	%20 = phi i32 %3, %7
	ret
}
`)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Func("gaps")
	f.Compact()
	if err := ir.Verify(f); err != nil {
		t.Error(err)
	}
	want := `kernel gaps(%0 i32 @0) bytes 4 {
b0:
	%1 = const i32 1
	%2 = eq i1 %0, %1
	if %2 b1 b2
b1: <- b0
	jump b2
b2: <- b0 b1
	%3 = phi i32 %0, %1
	ret
}
`
	if got := f.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if f.NumBlocks() != 3 {
		t.Errorf("%d blocks, want 3", f.NumBlocks())
	}
}
