//go:build race

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnCPU tests that the race detector reports nothing for the kernels.
func TestOnCPU(t *testing.T) { checkExact(t, stream(t, "cpu"), 1000) }

// TestRaceDetector tests that the race detector reports a race, with a line of the kernel, if either
// barrier of partialSums is removed.
func TestRaceDetector(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package a second time")
	}
	source, err := os.ReadFile("kernel.go")
	if err != nil {
		t.Fatal(err)
	}
	program := withoutBarriers(t, string(source))
	for _, name := range []string{"first", "second"} {
		c := exec.CommandContext(t.Context(), program, "-test.short", "-test.run=^TestOnCPU$")
		c.Env = append(os.Environ(), "WITHOUT="+name)
		text, err := c.CombinedOutput()
		out := string(text)
		if err == nil || !strings.Contains(out, "DATA RACE") || !strings.Contains(out, "kernel.go:") {
			t.Errorf("without the %s barrier: %v\n%s", name, err, out)
		}
		if at := strings.Index(out, "kernel.go:"); at >= 0 {
			t.Logf("without the %s barrier the report names %.13s", name, out[at:])
		}
	}
}

// withoutBarriers builds the tests with a kernel.go that omits the barrier that the environment
// variable WITHOUT names. It builds them only once, which takes most of the time, and returns the
// name of the program.
func withoutBarriers(t *testing.T, source string) string {
	t.Helper()
	const barrier = "t.Sync()"
	parts := strings.Split(source, barrier)
	if len(parts) != 3 {
		t.Fatal("kernel.go no longer has two barriers")
	}
	unless := func(name string) string { return `if without != "` + name + `" { ` + barrier + ` }` }
	dir := t.TempDir()
	replace := map[string]string{}
	for name, text := range map[string]string{
		"kernel.go":  parts[0] + unless("first") + parts[1] + unless("second") + parts[2],
		"without.go": "package main\n\nimport \"os\"\n\nvar without = os.Getenv(\"WITHOUT\")\n",
	} {
		place, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		replace[place] = filepath.Join(dir, name)
		if err := os.WriteFile(replace[place], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "normalize.test.exe")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "go", "test", "-race", "-overlay="+file, "-ldflags=-s -w", "-c", "-o", program, ".")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
