package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnCPU is what the race detector watches.
func TestOnCPU(t *testing.T) { checkExact(t, stream(t, "cpu"), 1000) }

// TestRaceDetector demands that go test -race is silent about the kernels, and that it finds each barrier of
// partialSums that somebody deletes, with the line of the kernel.
func TestRaceDetector(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package with -race")
	}
	source, err := os.ReadFile("kernel.go")
	if err != nil {
		t.Fatal(err)
	}
	first, second, ok := cutBarriers(string(source))
	if !ok {
		t.Fatal("kernel.go has not two barriers any more")
	}
	out, err := underRace(t, string(source))
	if err != nil && !strings.Contains(out, "--- FAIL") && !strings.Contains(out, "DATA RACE") {
		t.Skipf("no race detector here: %v\n%s", err, out)
	}
	if err != nil {
		t.Fatalf("the kernels as they are: %v\n%s", err, out)
	}
	for name, text := range map[string]string{"first": first, "second": second} {
		out, err := underRace(t, text)
		if err == nil || !strings.Contains(out, "DATA RACE") || !strings.Contains(out, "kernel.go:") {
			t.Errorf("without the %s barrier: %v\n%s", name, err, out)
		}
		if at := strings.Index(out, "kernel.go:"); at >= 0 {
			t.Logf("without the %s barrier the report names %.13s", name, out[at:])
		}
	}
}

// cutBarriers returns the source without its first barrier, and without its second one.
func cutBarriers(source string) (first, second string, ok bool) {
	const barrier = "t.Sync()"
	parts := strings.Split(source, barrier)
	if len(parts) != 3 {
		return "", "", false
	}
	return parts[0] + parts[1] + barrier + parts[2], parts[0] + barrier + parts[1] + parts[2], true
}

// underRace runs TestOnCPU with -race and another text of kernel.go.
func underRace(t *testing.T, text string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	kernels, err := filepath.Abs("kernel.go")
	if err != nil {
		t.Fatal(err)
	}
	other, overlay := filepath.Join(dir, "kernel.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{kernels: other}})
	if err != nil {
		t.Fatal(err)
	}
	for name, contents := range map[string][]byte{other: []byte(text), overlay: replace} {
		if err := os.WriteFile(name, contents, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-race", "-short", "-count=1", "-overlay="+overlay, "-run=^TestOnCPU$", ".").CombinedOutput()
	return string(out), err
}
