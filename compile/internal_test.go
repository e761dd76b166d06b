package compile_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestInternalError has the function that watches the passes panic, as a pass does that finds a bug.
func TestInternalError(t *testing.T) {
	const source = `package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func scale(t gpu.Thread, x []float32) { x[t.GlobalX()] *= 2 }
`
	dir := module(t, map[string]*txtar.Archive{"k": {Files: []txtar.File{{Name: "k.go", Data: []byte(source)}}}})
	fail := func(string, *ir.Func) { panic("BUG: ir: no such block") }
	_, err := compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{"./k"}, Trace: fail})
	e, ok := errors.AsType[*compile.InternalError](err)
	if !ok {
		t.Fatalf("got %v, want an *InternalError", err)
	}
	for _, want := range []string{"in kernel example.com/user/k.scale: BUG: ir: no such block", "Please report", "internal_test.go"} {
		if !strings.Contains(e.Error(), want) {
			t.Errorf("the text lacks %q:\n%s", want, e)
		}
	}
}
