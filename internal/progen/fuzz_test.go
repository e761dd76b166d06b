package progen_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/progen"
	"github.com/gopherwarp/gopherwarp/internal/progen/compare"
)

// FuzzKernel compares the kernel that bytes describe. What it finds is made smaller by
// -run=FuzzKernel/NAME -shrink, where NAME is the file that it left in testdata.
func FuzzKernel(f *testing.F) {
	c, err := compare.New("../..", compare.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Close() })
	f.Add([]byte{})
	f.Add([]byte("a barrier, a loop"))
	f.Fuzz(func(t *testing.T, choices []byte) {
		k := progen.FromBytes(choices)
		report, err := c.Kernels(t.Context(), []progen.Kernel{k})
		if err != nil {
			t.Fatal(err)
		}
		if how := report.Wrong[0]; how != "" {
			t.Errorf("%s\n%s", how, k.Source)
			if *shrink {
				shrinkKernel(t, k, compare.Options{})
			}
		}
	})
}
