package driver

import "github.com/gopherwarp/gopherwarp/internal/ptxtext"

// Text is the PTX of a variant, plain or in the packed form that generated files contain. Plain PTX
// converts to a Text and back.
type Text string

// Plain returns the PTX in plain form. It returns an error if t is corrupt, or if t was packed by a compiler that is
// newer than this package.
func (t Text) Plain() (string, error) { return ptxtext.Unpack(string(t)) }

// String returns the PTX in plain form. If Plain returns an error, String returns t unchanged.
func (t Text) String() string {
	plain, err := t.Plain()
	if err != nil {
		return string(t)
	}
	return plain
}
