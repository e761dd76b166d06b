package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// nestedBranches returns n branches by the thread's index, each inside the one before.
func nestedBranches(n int) string {
	var s, preds strings.Builder
	s.WriteString("kernel nested(%0 ptr.global @0, %1 i64 @8) bytes 32 {\nb0:\n\t%2 = tid i32 {0}\n\t%3 = const i32 5\n\tjump b1\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&s, "b%d: <- b%d\n\t%%%d = ult i1 %%2, %%3\n\tif %%%d b%d b%d\n", i, i-1, i+3, i+3, i+1, n+2)
		fmt.Fprintf(&preds, " b%d", i)
	}
	fmt.Fprintf(&s, "b%d: <- b%d\n\tjump b%d\nb%d: <-%s b%d\n\tret\n}", n+1, n, n+2, n+2, preds.String(), n+1)
	return s.String()
}

// TestOrdered compares the orders that hold at each place of a function with those that a walk over all of them finds. The branches all
// compare with one number. The number of orders that are looked at is counted.
func TestOrdered(t *testing.T) {
	const n = 200
	for _, test := range []struct {
		name, text string
		longest    int // chain
	}{{"beside each other", branches(n), 1}, {"nested", nestedBranches(n), n}} {
		f, values := parse(t, test.text)
		dom := ir.Dominators(f)
		facts := NewFacts(dom)
		above := facts.of(values[2]).above // of the thread's index
		if above.length < n {
			t.Fatalf("%s: %d orders, want at least %d", test.name, above.length, n)
		}
		for _, b := range dom.Order() {
			for _, p := range []Point{{b, 0}, {b, 1}, End(b)} {
				var want []*order
				for n := above.first; n > 0; n = facts.orders[n-1].next {
					if o := &facts.orders[n-1].what; facts.Reaches(o.where, p) {
						want = append(want, o)
					}
				}
				if got := slices.Collect(facts.ordered(above, p)); !slices.Equal(got, want) {
					t.Errorf("%s: b%d, %d: %d orders, want %d", test.name, b.ID, p.Index, len(got), len(want))
				}
			}
		}
		c, longest := facts.chain(above), 0
		for i := range c.links {
			steps := 0
			for at := int32(i); at >= 0; at = c.outer[at] {
				steps++
			}
			longest = max(longest, steps)
		}
		if longest != test.longest {
			t.Errorf("%s: %d orders are looked at, want %d", test.name, longest, test.longest)
		}
	}
}
