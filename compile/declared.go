package compile

import (
	"go/types"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// Declared is a kernel that a package declares.
type Declared struct {
	Func    *types.Func
	Block   [3]int // of //gpu:block, or zeros
	Generic bool   // it has type parameters: what is compiled are instances
}

// Declarations returns the kernels that files declare, which are all those of package p, and what is wrong
// with them as far as their declarations tell. It needs no other package than those that p
// imports by types, so instances of other packages' generic kernels are not looked at. Generated files
// among the files are passed over.
func Declarations(p *types.Package, files []File) ([]Declared, diag.List) {
	var sources []decl.Source
	for _, f := range files {
		if !load.IsGenerated(f.Name) {
			sources = append(sources, decl.Source{Name: f.Name, Text: f.Contents})
		}
	}
	names := map[string]string{}
	for _, imported := range p.Imports() {
		names[imported.Path()] = imported.Name()
	}
	d := decl.Scan(sources, decl.World{
		Name:    func(path string) string { return names[path] },
		Generic: func(string, string) *decl.Kernel { return nil },
	})
	var found diag.List
	for _, e := range d.Errors {
		if e.Code != diag.KernelInstance && e.Code != diag.KernelCombinations {
			found.Add(e)
		}
	}
	var kernels []Declared
	for _, k := range d.Kernels {
		fn, ok := p.Scope().Lookup(k.Name).(*types.Func)
		if !ok {
			continue
		}
		block := [3]int{k.Block.X, k.Block.Y, k.Block.Z}
		if len(k.TypeParams) > 0 {
			kernels = append(kernels, Declared{fn, block, true})
			continue
		}
		if wrong := checkParams(function{Kernel: k, instance: k.Instances[0], sig: fn.Signature()}); len(wrong) > 0 {
			found.Add(wrong...)
			continue
		}
		kernels = append(kernels, Declared{fn, block, false})
	}
	return kernels, found
}

// Mentions reports whether the text of a file has a directive in it, perhaps: one that has none
// declares no kernel.
func Mentions(text []byte) bool { return decl.Mentions(text) }

// Compiles reports whether a build compiles functions of the package of the standard library with a path.
func Compiles(path string) bool { return load.Compiled(path) }
