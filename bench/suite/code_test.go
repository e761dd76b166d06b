package suite_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
)

// TestCode holds what the compiler makes of some kernels to what makes them fast, where no GPU is: what the
// numbers say was seen in their times. A kernel that gets better may have its row changed.
func TestCode(t *testing.T) {
	result, err := compile.Build(t.Context(), compile.Options{Twins: compile.TwinsNone, Report: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	found := map[string]*compile.Report{}
	for _, r := range result.Report() {
		found[r.Kernel] = r
		if v := r.Best(); v.Local > 0 {
			t.Errorf("%s has %d bytes of local memory: arrays that did not become registers", r.Kernel, v.Local)
		}
	}
	for _, want := range []struct {
		kernel string
		coarse int // elements that a thread does
		checks int // that are left at most
		looped int // of these, in loops that run whatever the lengths are
		loads  int // of 16 bytes, at least
		stores int // likewise
	}{
		{"copy32", 4, 1, 1, 1, 1},
		{"add32", 4, 2, 0, 2, 1},
		{"triad32", 4, 2, 0, 2, 1},
		{"triad64", 2, 2, 0, 2, 1},
		{"histogram", 0, 1, 0, 0, 0},
		{"sum32Best", 0, 1, 0, 5, 0},
		{"softmaxBest", 0, 6, 0, 0, 1}, // asynchronous copies, whose checks are in front of their loop
		{"layerNormBest", 0, 6, 2, 16, 2},
		{"scanBlocksBest", 0, 1, 0, 1, 1},
		{"sgemm32", 0, 3, 0, 0, 0},
		{"sgemm32Best", 0, 3, 0, 2, 1},
		{"stencil27", 0, 4, 0, 0, 0},
		{"transposeTiledBest", 0, 2, 0, 4, 4},
		{"blackScholesBest", 0, 4, 0, 3, 2},
		{"spmv", 0, 5, 1, 0, 0},
	} {
		r := found[want.kernel]
		if r == nil {
			t.Errorf("there is no kernel %s", want.kernel)
			continue
		}
		v, looped := r.Best(), 0
		for _, c := range v.Checks {
			if c.Loop {
				looped++
			}
		}
		for _, n := range v.Notes {
			if n.What == "bounded" {
				looped -= n.Rounds // these are in the copy for lengths that a test at the start does not allow
			}
		}
		if v.Coarse != want.coarse || len(v.Checks) > want.checks || looped > want.looped || v.Loads.Wide < want.loads || v.Stores.Wide < want.stores {
			t.Errorf("%s: a thread does %d elements, checks left %d, in loops %d, accesses of 16 bytes %d and %d; want %+v",
				want.kernel, v.Coarse, len(v.Checks), looped, v.Loads.Wide, v.Stores.Wide, want)
		}
	}
}
