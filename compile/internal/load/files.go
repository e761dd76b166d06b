package load

import (
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strings"
)

// compiled lists the packages of the standard library whose functions kernels may call.
// Of all others only the declarations are loaded.
var compiled = map[string]bool{
	"cmp": true, "iter": true, "math": true, "math/bits": true, "slices": true, "sort": true, "sync/atomic": true,
	"unicode/utf8": true,
}

// Compiled reports whether kernels may call functions of the package of the standard library with a path.
func Compiled(path string) bool { return compiled[path] }

// mayHaveBodies reports whether function bodies of p may be loaded. Of packages that call C they are where p
// may have kernels: without what mentions C.
func (c *checker) mayHaveBodies(p *Package) bool {
	if p.Standard {
		return compiled[p.ImportPath]
	}
	return len(p.CgoFiles) == 0 || slices.Contains(c.asked, p)
}

// hasBodies reports whether function bodies of p are loaded.
func (c *checker) hasBodies(p *Package) bool {
	return c.mayHaveBodies(p) && (c.all || c.needed[p] || slices.Contains(c.asked, p))
}

// withoutC takes out of a file what has no types without a C compiler: the bodies of functions that mention C, and what
// variables of a package start with.
func withoutC(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil && mentionsC(d.Body) {
				d.Body = nil
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR && mentionsC(v) {
					v.Type, v.Values = &ast.InterfaceType{Interface: v.Pos(), Methods: &ast.FieldList{}}, nil
				}
			}
		}
	}
}

func mentionsC(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, ok := s.X.(*ast.Ident)
			found = found || ok && x.Name == "C"
		}
		return !found
	})
	return found
}

// portable returns the file to read instead of the named one. Package math has functions
// in assembly on some machines; the twin of such a file holds the same functions in Go.
func portable(p *Package, file string) string {
	if p.ImportPath != "math" {
		return file
	}
	stem, ok := strings.CutSuffix(file, "_asm.go")
	if !ok {
		return file
	}
	for _, suffix := range [...]string{"_noasm.go", "_stub.go"} {
		if exists(stem + suffix) {
			return stem + suffix
		}
	}
	return file
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
