package progen_test

import (
	"flag"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/progen"
)

var (
	seed    = flag.Uint64("seed", 1, "of the random kernels")
	count   = flag.Int("kernels", 200, "how many random kernels to run")
	gcflags = flag.String("gcflags", "-N -l", "for Go's own compiler, which needs most of the time")
	dir     = flag.String("dir", "", "where the program is written; empty for a folder that goes")
	devices = flag.String("devices", "cpu,interp", "what to compare; the first is right")
)

// TestRandomKernels compares native Go with other executions.
func TestRandomKernels(t *testing.T) {
	var kernels []progen.Kernel
	for i := range *count {
		kernels = append(kernels, progen.New(*seed, i))
	}
	differs, summary, err := newModule(t).compare(t, kernels, *devices)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(summary)
	for _, k := range kernels {
		if how, ok := differs[k.Name]; ok {
			t.Errorf("seed %d: %s: %s\n%s", *seed, k.Name, how, k.Source)
		}
	}
}
