package driver

import "github.com/gopherwarp/gopherwarp/internal/ptxtext"

// Text is the PTX of a variant, plain or in the packed form that generated files contain. Plain PTX
// converts to a Text and back.
type Text string

// Plain returns the PTX in plain form. It returns an error if t is packed and corrupt, or packed by a
// newer version of the compiler than this package's.
func (t Text) Plain() (string, error) { return ptxtext.Unpack(string(t)) }

// String returns the PTX in plain form, or t unchanged where Plain returns an error.
func (t Text) String() string {
	plain, err := t.Plain()
	if err != nil {
		return string(t)
	}
	return plain
}
