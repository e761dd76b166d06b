package driver

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxtext"
)

// Text is the PTX of a variant.
type Text struct {
	Code string // the PTX, plain or in the packed form that generated files contain
	Base *Text  // the text that a packed Code refers to, or nil
}

// Plain returns the PTX in plain form. It returns an error if t is corrupt, or if t was packed by a compiler that is
// newer than this package. The PTX of a nil Text is empty.
func (t *Text) Plain() (string, error) {
	if t == nil {
		return "", nil
	}
	var chain []string
	for b := t; b != nil; b = b.Base {
		chain = append(chain, b.Code)
	}
	slices.Reverse(chain)
	return ptxtext.Unpack(chain...)
}

// String returns the PTX in plain form. If Plain returns an error, String returns t's code unchanged.
func (t *Text) String() string {
	plain, err := t.Plain()
	if err != nil {
		return t.Code
	}
	return plain
}
