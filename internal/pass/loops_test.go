package pass

import (
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestRandomLoops compiles random loops with all options and runs them before and after.
func TestRandomLoops(t *testing.T) {
	defined, coarse, complete, n := 0, 0, 0, 150
	if sweep.Whole() {
		n = 300
	}
	for seed := range uint64(n) {
		k := generateLoops(seed)
		if err := ir.Verify(k); err != nil {
			t.Fatalf("the generator is wrong: %v\n%v", err, k)
		}
		o := Options{Verify: seed%8 == 0, Wide: seed%2 == 0, Aligned: seed%3 == 0, Unroll: seed%5 == 0, Coarse: seed%4 > 0, Narrow: k.Narrow}
		f, err := Compile(k, o)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 19))
		runsAsClaimed(t, f, r)
		if f.Coarse > 0 {
			coarse++
			complete += sameElements(t, k, f)
		} else {
			defined += sameBehaviour(t, k, f, compiledSetting(k, f), r)
		}
		if t.Failed() {
			t.Fatalf("seed %d, options %+v\n%v", seed, o, k)
		}
	}
	if defined < 80*n/3 || coarse < n/12 || complete < 10*n/3 {
		t.Errorf("%d runs are defined; %d kernels compute several elements in a thread, on %d grids without faults", defined, coarse, complete)
	}
}
