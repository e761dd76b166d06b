package compile

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile/internal/launcher"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// gpuOnly are the passes that a twin is better without: they serve PTX, or do what Go's compiler
// does by itself. Nor are products and sums fused, so that every machine computes the same.
var gpuOnly = []string{"narrow", "divide", "if-convert", "rotate", "unify-phis", "addresses", "shorten", "short-divide", "unroll-dense", "bound-checks", "lift-addresses", "early-checks", "fuse-checks", "quotients", "sink"}

// Twins says which kernels get a twin, package internal/backend/cpu's Go function for whole blocks.
type Twins string

// Which kernels get twins.
const (
	// TwinsDefault leaves out a kernel whose threads do not wait for each other and whose twin would be
	// long: it runs nearly as fast as a plain loop over the threads, and the
	// program is built faster.
	TwinsDefault Twins = ""
	TwinsAll     Twins = "all"  // all that can have one
	TwinsNone    Twins = "none" // none
)

// maxPlainLines is the length up to which a twin is worth it that saves no stacks. It is that
// of nearly all kernels that people write; what is longer has mathematics of package math in it,
// several times, and spends its time there.
const maxPlainLines = 200

// emitTwin adds the kernel's twin, if it gets one.
func (k *Kernel) emitTwin(twins *launcher.Twins, vectors *launcher.Vectors, which Twins) {
	k.CPU = "plain loop"
	if k.Barriers {
		k.CPU = "coroutines"
	}
	switch {
	case which == TwinsNone:
		return
	case strings.Contains(k.Name, "["):
		k.CPU += ": an instance of a generic kernel has no twin"
		return
	}
	function := twins.Declare(k.Name + "Twin")
	options := cpu.Options{
		Func: function, Params: k.Params,
		Pos:      ir.Pos{File: filepath.Base(k.File), Line: k.Line},
		Declared: twins.Declared(), Package: twins.Package, Declare: twins.Declare,
		Vector: &cpu.VectorOptions{Path: k.Package + "/" + load.Vectors, Declare: vectors.Declare},
	}
	t, err := cpu.Emit(k.twin, options)
	switch {
	case err != nil:
		k.CPU += ": " + err.Error()
	case !k.Barriers && which != TwinsAll && len(t.Vectors) == 0 && t.Lines > maxPlainLines:
		k.CPU += fmt.Sprintf(": a twin would have %d lines", t.Lines)
	default:
		twins.Add(k.Name, function, t.Text, t.Imports)
		for _, v := range t.Vectors {
			vectors.Add(v.Declaration, v.Text)
		}
		k.CPU = "twin"
		if !t.Split {
			k.CPU = "loop"
		}
		switch {
		case len(t.Vectors) > 0 && len(t.Scalar) > 0:
			k.CPU += " with vector code, but: " + strings.Join(t.Scalar, "; ")
		case len(t.Vectors) > 0:
			k.CPU += " with vector code"
		case len(t.Scalar) > 0:
			k.CPU += " without vector code: " + strings.Join(t.Scalar, "; ")
		}
	}
}
