package decl

import (
	"go/ast"
	"go/token"
	"unicode"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/device"
)

// Kernel is a kernel as it is declared.
type Kernel struct {
	Name     string // of the function
	Launcher string // its exported form
	Pos      token.Position
	Doc      string     // the doc comment's text, without directives
	Block    device.Dim // of //gpu:block, or zero
	// Contract is the argument of //gpu:contract, "on" or "off", or empty.
	Contract string
	Fields   []Field // the parameters behind the thread
}

// Field is a group of parameters that share a type.
type Field struct {
	Names []string // "_" and missing names are replaced
	Pos   token.Position
	Slice bool   // []T
	Type  string // as written; of the element where Slice is set
	// Imports are the packages that Type names. Each use stands in Type as Uses says.
	Imports []Use
}

// Use is the name of a package in a type's text.
type Use struct {
	Offset int    // in the text
	Name   string // as written
	Path   string
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
