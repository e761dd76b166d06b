package check

import (
	"errors"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
)

// Fault waits for the stream, whose error must be want.
func (r *Run) Fault(want device.Fault) { r.fault(want, false) }

// FaultSomewhere is Fault for one that some machines see in a function of the standard
// library and others where it is called.
func (r *Run) FaultSomewhere(want device.Fault) { r.fault(want, true) }

func (r *Run) fault(want device.Fault, anywhere bool) {
	err := r.Stream.Synchronize(r.Context)
	f, ok := errors.AsType[*device.Fault](err)
	if ok && anywhere {
		want.File, want.Line = f.File, f.Line
	}
	switch {
	case !ok:
		r.Wrong("got the error %v, want the fault %v", err, &want)
	case *f != want:
		r.Wrong("got the fault %v, want %v", f, &want)
	}
}

// Line returns the number of the line of text that ends in the comment "// " + mark.
func Line(text, mark string) int {
	for i, line := range strings.Split(text, "\n") {
		if strings.HasSuffix(line, "// "+mark) {
			return i + 1
		}
	}
	return 0
}
