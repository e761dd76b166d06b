package decl

import (
	"go/ast"
	"go/token"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Kernel is a kernel function with its launcher. A generic function that has launchers of
// several names is a kernel for each.
type Kernel struct {
	Name     string // of the function
	Launcher string // its exported form, or the name that //gpu:instance gives
	Pos      token.Position
	Doc      string     // the doc comment's text, without directives
	Block    driver.Dim // of //gpu:block, or zero
	Cluster  driver.Dim // of //gpu:cluster, or zero
	Resident int        // of //gpu:resident, or zero
	// Contract is the argument of //gpu:contract, "on" or "off", or empty.
	Contract string
	Target   Target  // of //gpu:target
	Assume   Assume  // of //gpu:assume
	Native   bool    // //gpu:twin off: a CPU calls the Go function
	Bodies   []Body  // that //gpu:variant adds
	Fields   []Field // the parameters after the thread
	// TypeParams are the names of the type parameters; Instances are what it is compiled for. A
	// kernel without type parameters has one instance, without arguments.
	TypeParams []string
	Instances  []Instance
	Package    string // path of the package that declares it, where it is another one
	Named      bool   // the launcher's name was given
}

// Generic reports whether the launcher has type parameters. One that has a name of its own
// and stands for one instance has none.
func (k *Kernel) Generic() bool {
	return len(k.TypeParams) > 0 && !(k.Named && len(k.Instances) == 1)
}

// Instance is a function to compile: a kernel, or a generic kernel with its type arguments.
type Instance struct {
	Name string // "add" or "add[float32]"
	// Stem begins the names of what belongs to it, files too; they differ in more than case.
	Stem string
	Args []Text // for the type parameters
	Pos  token.Position
	// Vars are the variables that a stub declares with the function as its value, and those of
	// the kernel's bodies, so that they get types. There are none if there are no arguments.
	Vars []string
}

// Body is a function that implements a kernel for some GPUs.
type Body struct {
	Name   string
	Pos    token.Position
	Target Target

	typeParams int
}

// Target is the argument of //gpu:target, or zero.
type Target struct {
	driver.Capability
	Exact bool // no other GPUs: sm_90a
	Pos   token.Position
}

// Assume is the argument of //gpu:assume: what the kernel relies on in all launches.
type Assume struct {
	Given bool // there is a directive, perhaps for nothing
	driver.Fit
}

// Field is a group of parameters that share a type.
type Field struct {
	Names  []string // "_" and missing names are replaced
	Pos    token.Position
	Slice  bool // []T
	Tensor bool // gpu.TensorMap[T]
	Type   Text // of the element if Slice is set, of the tile if Tensor is set
	// Struct describes Type if it is a struct with slices that the package declares.
	Struct *Struct
}

// Struct is a struct type whose fields, or whose fields' fields, contain slices. Arg is the name of the type of the
// launchers' arguments, in which the slices are those of a device.
type Struct struct {
	Name, Arg string
	Fields    []Field
}

// Text is the source text of a type.
type Text struct {
	Source string
	Uses   []Use // the names in it, in order
}

// Use is a name in a Text that may have to be renamed in another file.
type Use struct {
	Offset int
	Name   string // as written; empty if the name of a package is missing
	Path   string // of the package that is named
	Param  bool   // it is a type parameter
}

// foreign returns the text as it is written in other packages than that with the path,
// which declares what has no package.
func (t Text) foreign(path string) Text {
	t.Uses = slices.Clone(t.Uses)
	for i, u := range t.Uses {
		if u.Path == "" && !u.Param {
			t.Uses[i] = Use{Offset: u.Offset, Path: path}
		}
	}
	return t
}

// unexported returns a name of the declaring package that others cannot write, or "".
func (t Text) unexported() string {
	for _, u := range t.Uses {
		if u.Path == "" && !u.Param && !ast.IsExported(u.Name) {
			return u.Name
		}
	}
	return ""
}

// exported returns the name with its first letter in upper case, or "" where it has no
// such form.
func exported(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	upper := string(unicode.ToUpper(first)) + name[size:]
	if !ast.IsExported(upper) {
		return ""
	}
	return upper
}
