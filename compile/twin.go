package compile

import (
	"path/filepath"

	"github.com/gopherwarp/gopherwarp/compile/internal/launcher"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// gpuOnly are the passes that a twin is better without: they serve PTX, or do what Go's compiler
// does by itself. Nor are products and sums fused, so that every machine computes the same.
var gpuOnly = []string{"narrow", "divide", "if-convert", "rotate", "unify-phis", "addresses", "shorten", "short-divide", "early-checks", "fuse-checks", "sink"}

// emitTwin adds the kernel's twin, if it can have one.
func (k *Kernel) emitTwin(twins *launcher.Twins) {
	function := twins.Declare(k.stem + "Twin")
	t, err := cpu.Emit(k.twin, cpu.Options{
		Func: function, Params: k.Params,
		Pos:      ir.Pos{File: filepath.Base(k.File), Line: k.Line},
		Declared: twins.Declared(), Package: twins.Package, Declare: twins.Declare,
	})
	switch {
	case err == nil:
		twins.Add(k.stem, function, t.Text, t.Imports)
		k.CPU = "twin"
		if !t.Split {
			k.CPU = "loop"
		}
	case k.Barriers:
		k.CPU = "coroutines: " + err.Error()
	default:
		k.CPU = "plain loop: " + err.Error()
	}
}
