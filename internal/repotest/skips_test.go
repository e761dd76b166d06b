package repotest

import (
	"os/exec"
	"strings"
	"testing"
)

// TestSkips has the script that verifies a GPU judge outputs of tests: on a machine with one GPU the tests that
// need two are skipped, and nothing else of a GPU is.
func TestSkips(t *testing.T) {
	awk, err := exec.LookPath("awk")
	if err != nil {
		t.Skip("there is no awk")
	}
	const (
		peers  = "=== RUN   TestGPUPeers\n    memory_test.go:226: no two GPUs to copy between\n--- SKIP: TestGPUPeers (0.00s)\n"
		all    = "=== RUN   TestGPU\n    suite_test.go:34: no GPU to test on: no driver\n--- SKIP: TestGPU (0.00s)\n"
		nested = "=== RUN   TestGPU\n=== RUN   TestGPU/Copy\n    a_test.go:3: no two GPUs to copy between\n=== RUN   TestGPU/Managed\n" +
			"    a_test.go:9: not supported\n--- PASS: TestGPU (0.00s)\n    --- SKIP: TestGPU/Copy (0.00s)\n    --- SKIP: TestGPU/Managed (0.00s)\n"
		other  = "=== RUN   TestAssembled\n    a_test.go:2: no ptxas\n--- SKIP: TestAssembled (0.00s)\n"
		silent = "=== RUN   TestGPUFast\n--- SKIP: TestGPUFast (0.00s)\n"
	)
	for _, c := range []struct{ output, skipped string }{
		{"=== RUN   TestGPU\n--- PASS: TestGPU (0.00s)\nPASS\n", ""},
		{peers + other, ""},
		{peers + all, "TestGPU"},
		{nested, "TestGPU/Managed"},
		{peers + silent, "TestGPUFast"},
	} {
		script := exec.Command(awk, "-f", "../../bench/gpu/skips.awk")
		script.Stdin = strings.NewReader(c.output)
		said, err := script.Output()
		if (err != nil) != (c.skipped != "") || c.skipped != "" && !strings.HasPrefix(string(said), "skipped: "+c.skipped) {
			t.Errorf("of\n%sthe script says %q, %v, want %q", c.output, said, err, c.skipped)
		}
	}
}
