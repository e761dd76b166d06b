package check

import (
	"errors"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
)

// suite is the import path of the suite, in whose packages the kernels are.
const suite = "github.com/gopherwarp/gopherwarp/internal/verify/conformance/"

// isFault reports whether f is want, of a kernel of the suite.
func isFault(f *device.Fault, want device.Fault) bool {
	want.Package = f.Package
	return *f == want && strings.HasPrefix(f.Package, suite)
}

// Fault waits for the stream, whose error must be exactly want, except for its Launch. Errors of threads that waited
// for the faulting thread would be joined to it and are not allowed.
func (r *Run) Fault(want device.Fault) {
	err := r.Stream.Synchronize(r.Context)
	f, ok := errors.AsType[*device.Fault](err)
	if ok {
		want.Launch = f.Launch // cases share a stream
	}
	switch {
	case !ok:
		r.Wrong("got the error %v, want the fault %v", err, &want)
	case !isFault(f, want):
		r.Wrong("got the fault %v, want %v", f, &want)
	case err.Error() != f.Error():
		r.Wrong("got more than the fault: %v", err)
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

// FaultOfAny is like Fault, for a fault that any thread of the block may have reported.
func (r *Run) FaultOfAny(want device.Fault) {
	err := r.Stream.Synchronize(r.Context)
	f, ok := errors.AsType[*device.Fault](err)
	if ok {
		want.Thread, want.Launch = f.Thread, f.Launch
	}
	if !ok || !isFault(f, want) {
		r.Wrong("got the error %v, want the fault %v of any thread", err, &want)
	}
}
