package threads_test

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
)

// TestTwins demands that kernels whose warps exchange numbers have twins, which the conformance suite then runs.
func TestTwins(t *testing.T) {
	result, err := compile.Build(t.Context(), compile.Options{})
	if err == nil {
		err = result.Diagnostics.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	twins := ""
	for _, f := range result.Packages[0].Files {
		if strings.HasSuffix(f.Name, "zkernels_cpu.go") {
			twins = string(f.Contents)
		}
	}
	for _, name := range []string{"warps", "reductions", "crooked"} {
		if !strings.Contains(twins, "\nfunc "+name+"Twin(") {
			t.Errorf("%s has no twin", name)
		}
	}
}
