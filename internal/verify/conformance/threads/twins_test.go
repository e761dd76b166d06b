package threads

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// TestTwins demands that kernels whose warps exchange numbers have twins, which the conformance suite then runs.
func TestTwins(t *testing.T) {
	for _, k := range []*driver.Kernel{warpsKernel, reductionsKernel, crookedKernel} {
		if k.Twin == nil {
			t.Errorf("%s has no twin", k.Name)
		}
	}
}
