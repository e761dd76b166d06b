package compile

import (
	"go/constant"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
	"github.com/gopherwarp/gopherwarp/compile/internal/launcher"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/origin"
)

// Declared is a kernel that a package declares.
type Declared struct {
	Func    *types.Func
	Block   [3]int // the block size of //gpu:block; zeros without the directive
	Generic bool   // whether the kernel has type parameters; only its instances are compiled
}

// Declarations returns the kernels that package p declares, and diagnostics of errors in their declarations. The
// parameter files must contain all files of p. Declarations does not read the sources of the packages that p imports, and
// therefore ignores instances of their generic kernels. It also ignores generated files.
func Declarations(p *types.Package, files []File) ([]Declared, diag.List) {
	var sources []decl.Source
	for _, f := range files {
		if !load.IsGenerated(f.Name) {
			sources = append(sources, decl.Source{Name: f.Name, Text: f.Contents})
		}
	}
	imports := map[string]*types.Package{}
	for _, imported := range p.Imports() {
		imports[imported.Path()] = imported
	}
	d := decl.Scan(sources, decl.World{
		Name: func(path string) string {
			if p := imports[path]; p != nil {
				return p.Name()
			}
			return ""
		},
		Generic:  func(string, string) *decl.Kernel { return nil },
		Declares: func(path, name string) bool { p := imports[path]; return p != nil && p.Scope().Lookup(name) != nil },
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

// Mentions reports whether the text of a file may contain a //gpu: directive, or a comment such as "// gpu:kernel" that
// is probably meant as one. If Mentions returns false, the file declares no kernel.
func Mentions(text []byte) bool { return decl.Mentions(text) }

// Compiles reports whether kernels can call functions of the standard library's package with the given
// path.
func Compiles(path string) bool { return load.Compiled(path) }

// Changed is a declaration that differs from the one that code was generated from, or no longer exists.
type Changed struct {
	File string // relative to the folder of the package with the generated code, with slashes
	Name string // "f", or "T.m" for a method
}

// Stale returns the declarations that have changed since the code of package p was generated. It reads the present declarations of p from
// the parameter files, and those of other packages from disk. It ignores declarations in files that it cannot read.
func Stale(p *types.Package, files []File) []Changed {
	texts := map[string][]byte{}
	var dir string
	for _, f := range files {
		texts[f.Name] = f.Contents
		dir = filepath.Dir(f.Name)
	}
	read := func(name string) ([]byte, error) {
		if text, ok := texts[name]; ok {
			return text, nil
		}
		if filepath.Dir(name) == dir {
			return nil, fs.ErrNotExist // for this system, or a test
		}
		return os.ReadFile(name)
	}
	var changed []Changed
	for list := recorded(p); ; {
		d, ok := origin.Changed(dir, list, read)
		if !ok {
			return changed
		}
		changed = append(changed, Changed{d.File, d.Name})
		list = list[slices.Index(list, d)+1:]
	}
}

// recorded returns the declarations that generated code of p names as its origin.
func recorded(p *types.Package) []origin.Decl {
	for _, name := range p.Scope().Names() {
		c, ok := p.Scope().Lookup(name).(*types.Const)
		if !ok || !strings.HasPrefix(name, launcher.Sources) || c.Val().Kind() != constant.String {
			continue
		}
		if list := origin.Parse(constant.StringVal(c.Val())); list != nil {
			return list
		}
	}
	return nil
}
