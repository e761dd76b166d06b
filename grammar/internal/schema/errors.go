package schema

import (
	"errors"
	"fmt"
)

// Errors of Compile.
var (
	ErrSyntax      = errors.New("not a JSON Schema")
	ErrUnsupported = errors.New("unsupported")
	ErrLimit       = errors.New("too large")
	ErrEmpty       = errors.New("no document satisfies the schema")
)

// unsupported returns an error about a value of the schema.
func unsupported(v *value, what string) error {
	return fmt.Errorf("%w at %s: %s", ErrUnsupported, place(v), what)
}

// wrong returns an error about a value that a schema cannot have.
func wrong(v *value, what string) error {
	return fmt.Errorf("%w: at %s: %s", ErrSyntax, place(v), what)
}

// place returns a JSON pointer as a URI fragment.
func place(v *value) string { return "#" + v.path }
