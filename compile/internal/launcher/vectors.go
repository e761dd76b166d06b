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
	first        map[string]string // the first function with some parameters and some text without its name
}

// Declare returns an exported name that nothing else in the package has.
func (v *Vectors) Declare(wanted string) string {
	if v.names == nil {
		v.names = map[string]bool{}
	}
	return decl.Fresh(strings.ToUpper(wanted[:1])+wanted[1:], v.names)
}

// Add adds a function: its declaration in Go and its text in Go's assembly language. If an earlier function has the same parameters and
// the same text, the new one only jumps to it. Instances of a kernel for several types often have the same code.
func (v *Vectors) Add(declaration, text string) {
	v.declarations = append(v.declarations, declaration)
	name, parameters, _ := strings.Cut(strings.TrimPrefix(declaration, "func "), "(")
	start := "TEXT ·" + name + "(SB), "
	before, after, _ := strings.Cut(text, start)
	code := parameters + "\n" + before + after
	if first, ok := v.first[code]; ok {
		frame, _, _ := strings.Cut(after, "\n")
		_, arguments, _ := strings.Cut(frame, "-")
		text = before + start + "4, $0-" + arguments + "\nJMP ·" + first + "(SB)\n" // 4 is NOSPLIT: the other function looks at the stack
	} else {
		if v.first == nil {
			v.first = map[string]string{}
		}
		v.first[code] = name
	}
	v.text.WriteString("\n" + text)
}

// NotAMD64 is the build constraint of the file for processors without vector code.
const NotAMD64 = "//go:build !amd64\n\n"

// VectorFile is a file of a package of vector code.
type VectorFile struct {
	Name, Text string
	Doc        bool // it has the package's comment and no code
}

// Files returns the files of the package with the given name; none if there is no code.
func (v *Vectors) Files(name, of string) []VectorFile {
	if len(v.declarations) == 0 {
		return nil
	}
	clause := "package " + name + "\n\n"
	if strings.Contains(strings.Join(v.declarations, ""), "unsafe.Pointer") {
		clause += "import \"unsafe\"\n\n"
	}
	doc := "// Package " + name + " contains vector code that runs kernels of package " + of + " on the CPU.\n//\n" +
		"// Only generated code calls the functions of this package. The first argument is the number of threads, which are\n// adjacent along x. A function runs the largest multiple of the vector length that does not exceed this number, and returns\n// how many threads it ran.\n"
	var amd64, other strings.Builder
	for _, d := range v.declarations {
		amd64.WriteString("//go:noescape\n" + d + "\n\n")
		other.WriteString(d + " {\n\treturn 0\n}\n\n")
	}
	return []VectorFile{
		{Name: name + ".go", Text: Header + "\n\n" + doc + "package " + name + "\n", Doc: true},
		{Name: name + "_amd64.go", Text: Header + "\n\n" + clause + strings.TrimSuffix(amd64.String(), "\n")},
		{Name: name + "_other.go", Text: Header + "\n\n" + NotAMD64 + clause + strings.TrimSuffix(other.String(), "\n")},
		{Name: name + "_amd64.s", Text: Header + "\n" + v.text.String()},
	}
}
