package nvtx_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gopherwarp/gopherwarp/cuda/nvtx"
)

// TestTool checks the calls that a profiler's library receives.
func TestTool(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs Linux and a C compiler")
	}
	dir := t.TempDir()
	tool, out := filepath.Join(dir, "tool.so"), filepath.Join(dir, "out")
	if text, err := exec.Command(cc, "-shared", "-fPIC", "-o", tool, "testdata/tool.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Setenv("TOOL_OUT", out)
	tx, err := nvtx.Start(tool)
	if err != nil || !tx.Watched() {
		t.Fatalf("watched %v, %v", tx.Watched(), err)
	}
	a, b := tx.Range("epoch 3"), tx.Range("step")
	runtime.GC()
	tx.Mark("here")
	a.End()
	a.End()
	b.End()
	text, err := os.ReadFile(out)
	if want := "start epoch 3\nstart step\nmark here\nend 1\nend 2\n"; err != nil || string(text) != want {
		t.Errorf("the profiler received %q (%v), want %q", text, err, want)
	}
	t.Setenv("TOOL_OUT", filepath.Join(dir, "missing", "out"))
	if _, err := nvtx.Start(tool); !errors.Is(err, nvtx.ErrTool) {
		t.Errorf("a tool that refuses: %v", err)
	}
}

// TestNobody expects no effect without a profiler, and an error if the profiler's library is
// missing.
func TestNobody(t *testing.T) {
	tx, err := nvtx.Start("")
	if err != nil || tx.Watched() {
		t.Fatalf("watched %v, %v", tx.Watched(), err)
	}
	for _, tx := range []*nvtx.Tracer{tx, nil} {
		r := tx.Range("x")
		tx.Mark("y")
		r.End()
	}
	if _, err := nvtx.Start("/nowhere/tool.so"); !errors.Is(err, nvtx.ErrTool) {
		t.Errorf("a tool that is missing: %v", err)
	}
	if n := testing.AllocsPerRun(100, func() { r := tx.Range("x"); r.End() }); n != 0 {
		t.Errorf("%v allocations without a profiler", n)
	}
}
