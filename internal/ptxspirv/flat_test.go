package ptxspirv

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// TestFlat tests that deeply nested conditions become the states of rounds only where a device's compiler ignores such conditions: the rounds
// of a large kernel take the compilers of other devices minutes.
func TestFlat(t *testing.T) {
	const nested = 2 * mostNested
	m, err := ptx.Parse(text(strings.Repeat("@!%p1 bra $END; add.s32 %r1, %r1, 1;", nested) + "$END: ret;"))
	if err != nil {
		t.Fatal(err)
	}
	for _, shallow := range []bool{false, true} {
		g, err := newGraph(m.Func("k"), Options{Subgroup: warpLanes, Arithmetic: Arithmetic{Shallow: shallow}})
		if err != nil {
			t.Fatal(err)
		}
		if g.inRounds != shallow {
			t.Errorf("shallow %v: in rounds %v", shallow, g.inRounds)
		}
	}
}
