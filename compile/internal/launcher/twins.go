package launcher

import "github.com/gopherwarp/gopherwarp/compile/internal/decl"

// Twins collects the twins of a package's kernels, which are in a separate file.
type Twins struct {
	pkg   *decl.Package
	w     *writer
	funcs map[string]string // by stem
}

// NewTwins returns a collection without twins.
func NewTwins(pkg *decl.Package, nameOf Names) *Twins {
	return &Twins{pkg: pkg, w: newWriter(pkg, nameOf), funcs: map[string]string{}}
}

// Declare returns a name that nothing else in the package has.
func (t *Twins) Declare(wanted string) string { return decl.Fresh(wanted, t.w.names) }

// Package returns the name that the package with the path has in the file.
func (t *Twins) Package(path string) string { return t.w.imports.reserve(path) }

// Declares reports whether the package declares a name, or imports a package by it.
func (t *Twins) Declares(name string) bool { return t.w.names[name] || t.pkg.Declared[name] }

// Add adds the twin of the kernel with a stem: the formatted text that declares the function with that name, and the
// paths of what it imports.
func (t *Twins) Add(stem, function, text string, imports []string) {
	t.funcs[stem] = function
	for _, path := range imports {
		t.w.imports.name(path)
	}
	t.w.printf("\n%s", text)
}

// File returns the file; nil if there are no twins.
func (t *Twins) File() ([]byte, error) {
	if len(t.funcs) == 0 {
		return nil, nil
	}
	head, err := t.w.format(t.pkg, "")
	if err != nil {
		return nil, err
	}
	return append(head, t.w.text.String()...), nil // the twins are formatted
}
