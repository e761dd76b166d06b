package launcher

import (
	"strings"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
)

// Vectors collects the vector code of a package's kernels.
type Vectors struct {
	names        map[string]bool
	declarations []string
	text         strings.Builder
}

// Declare returns an exported name that nothing else in the package has.
func (v *Vectors) Declare(wanted string) string {
	if v.names == nil {
		v.names = map[string]bool{}
	}
	return decl.Fresh(strings.ToUpper(wanted[:1])+wanted[1:], v.names)
}

// Add adds a function: its declaration in Go and its text in Go's assembly language.
func (v *Vectors) Add(declaration, text string) {
	v.declarations = append(v.declarations, declaration)
	v.text.WriteString("\n" + text)
}

// NotAMD64 is in the file of vector code that has none.
const NotAMD64 = "//go:build !amd64\n\n"

// Files returns the files of the package with the given name, by their own names; none where there is no code.
func (v *Vectors) Files(name, of string) map[string]string {
	if len(v.declarations) == 0 {
		return nil
	}
	clause := "package " + name + "\n\n"
	if strings.Contains(v.text.String(), "unsafe.Pointer") {
		clause += "import \"unsafe\"\n\n"
	}
	doc := "// Package " + name + " is vector code of the kernels of package " + of + ".\n//\n" +
		"// Each function does so many threads of a row, up to its first argument, as fill vectors, and\n// returns how many those are. Only the kernels' twins call them.\n"
	var amd64, other strings.Builder
	for _, d := range v.declarations {
		amd64.WriteString("//go:noescape\n" + d + "\n\n")
		other.WriteString(d + " {\n\treturn 0\n}\n\n")
	}
	return map[string]string{
		name + ".go":       Header + "\n\n" + doc + "package " + name + "\n",
		name + "_amd64.go": Header + "\n\n" + clause + strings.TrimSuffix(amd64.String(), "\n"),
		name + "_other.go": Header + "\n\n" + NotAMD64 + clause + strings.TrimSuffix(other.String(), "\n"),
		name + "_amd64.s":  Header + "\n" + v.text.String(),
	}
}
