package compile_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
)

// TestCgo compiles kernels of a package that calls C, beside those calls and in another file, and that imports another one that does.
func TestCgo(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	t.Setenv("CGO_ENABLED", "1")
	dir := module(t, map[string]*txtar.Archive{"": txtar.Parse([]byte(cgoPackages))})
	result, err := compile.Build(t.Context(), compile.Options{Dir: filepath.Join(dir, "cgo"), Patterns: []string{"."}})
	if err != nil {
		t.Fatal(err)
	}
	var kernels []string
	for _, p := range result.Packages {
		for _, k := range p.Kernels {
			kernels = append(kernels, k.Name)
		}
	}
	if len(result.Diagnostics) > 0 || len(kernels) != 2 {
		t.Errorf("kernels %v, diagnostics %v, want scale and shift and none", kernels, result.Diagnostics)
	}
}

const cgoPackages = `
-- far/far.go --
package far

// typedef struct { int x; } pair;
import "C"

// Pair is of C.
type Pair struct{ own C.pair }

func (p Pair) First() int { return int(p.own.x) }

var Some = []Pair{{}, {own: C.pair{x: 2}}}
-- cgo/c.go --
package cgo

// int two(void) { return 2; }
// typedef struct { int x; } point;
import "C"

import (
	"strings"

	"example.com/user/far"
	"github.com/gopherwarp/gopherwarp/gpu"
)

var origin = C.point{}

// Two has no body where nothing is known of C, and so nothing uses package strings.
func Two() int { return int(C.two()) + int(origin.x) + strings.Count("a", "b") }

func Three() int { return far.Some[0].First() }

func half(x float32) float32 { return x / 2 }

//gpu:kernel
func scale(t gpu.Thread, x []float32) {
	if i := t.GlobalX(); i < len(x) {
		x[i] = half(x[i])
	}
}
-- cgo/k.go --
package cgo

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func shift(t gpu.Thread, x []float32) {
	x[t.GlobalX()] += half(1)
}
`
