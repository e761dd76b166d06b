package launcher

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
)

const module = "github.com/gopherwarp/gopherwarp/"

// imports gives each package that the file imports a name that nothing else in the
// file or its package has.
type imports struct {
	nameOf Names
	taken  map[string]bool
	names  map[string]string // by path
	used   map[string]bool   // paths that the text refers to
}

// newImports returns imports that keep clear of the package's names and of all parameters.
func newImports(pkg *decl.Package, nameOf Names) *imports {
	m := &imports{nameOf: nameOf, taken: maps.Clone(pkg.Declared), names: map[string]string{}, used: map[string]bool{}}
	for _, k := range pkg.Kernels {
		maps.Copy(m.taken, parameters(k))
	}
	return m
}

// reserve returns the name of the package with the path.
func (m *imports) reserve(path string) string {
	name, ok := m.names[path]
	if !ok {
		name = decl.Fresh(m.nameOf(path), m.taken)
		m.names[path] = name
	}
	return name
}

// name returns the name of the package with the path, and imports it.
func (m *imports) name(path string) string {
	m.used[path] = true
	return m.reserve(path)
}

func (m *imports) device() string { return m.name(module + "device") }
func (m *imports) driver() string { return m.name(module + "device/driver") }

// typeText returns a type with its packages as this file names them, and type parameters as
// params says.
func (m *imports) typeText(t decl.Text, params map[string]string) string {
	var b strings.Builder
	at := 0
	for _, u := range t.Uses {
		b.WriteString(t.Source[at:u.Offset])
		at = u.Offset + len(u.Name)
		switch {
		case u.Param:
			b.WriteString(params[u.Name])
		case u.Path == "":
			b.WriteString(u.Name)
		case u.Name == "":
			b.WriteString(m.name(u.Path) + ".")
		default:
			b.WriteString(m.name(u.Path))
		}
	}
	b.WriteString(t.Source[at:])
	return b.String()
}

// block returns the import declaration: the standard library first.
func (m *imports) block() string {
	var std, other strings.Builder
	for _, importPath := range slices.Sorted(maps.Keys(m.used)) {
		b := &std
		if first, _, _ := strings.Cut(importPath, "/"); strings.Contains(first, ".") {
			b = &other
		}
		if name := m.names[importPath]; name != path.Base(importPath) {
			fmt.Fprintf(b, "\t%s", name)
		}
		fmt.Fprintf(b, "\t%q\n", importPath)
	}
	if std.Len() > 0 {
		std.WriteByte('\n')
	}
	return "import (\n" + std.String() + other.String() + ")\n"
}
