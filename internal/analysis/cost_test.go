package analysis

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// counted is a function whose sums are of the type WIDE; the second is in a loop.
const counted = `
func counted(%0 WIDE, %1 WIDE) -> WIDE {
b0:
	%2 = add WIDE %0, %1
	jump b1
b1: <- b0 b1
	%3 = phi WIDE %2, %4
	%4 = add WIDE %3, %1
	%5 = slt i1 %4, %0
	if %5 b1 b2
b2: <- b1
	ret %4
}
`

// TestCost counts instructions: 64-bit arithmetic takes two, and a loop runs eight iterations.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		wide string
		want float64
	}{
		{"i32", 1 + 0.5 + 8*(0.5+1+1+1) + 1},
		{"i64", 2 + 0.5 + 8*(0.5+2+2+1) + 1},
	} {
		f, _ := parse(t, strings.ReplaceAll(counted, "WIDE", c.wide))
		if got := Cost(ir.Dominators(f)); got != c.want {
			t.Errorf("the function of %s costs %v, want %v", c.wide, got, c.want)
		}
	}
}
