package trial

import (
	"bytes"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// Differs says in what got is not want, or returns "".
func (t *Trial) Differs(want, got Result) string {
	if want.Fault != got.Fault {
		return fmt.Sprintf("%q, want %q", got.Fault, want.Fault)
	}
	if want.Fault != "" {
		for i := range want.Threads {
			if d := t.Differs(want.Threads[i], got.Threads[i]); d != "" {
				return fmt.Sprintf("thread %d alone: %s", i, d)
			}
		}
		return ""
	}
	if want.Printed != got.Printed && !t.Prints {
		return fmt.Sprintf("printed %q, want %q", got.Printed, want.Printed)
	}
	n := 0
	for i, a := range t.Args {
		if a.Len == 0 {
			continue
		}
		if !bytes.Equal(want.Data[n], got.Data[n]) {
			return t.differ(i, a, want.Data[n], got.Data[n])
		}
		n++
	}
	return ""
}

// differ says in which number two slices differ.
func (t *Trial) differ(arg int, a progen.Arg, want, got []byte) string {
	l, at := parseLayout(a.Layout), 0
	for i := range a.Len {
		for j, f := range l.leaves {
			size := f.kind.Size()
			if x, y := get(want[at:], size), get(got[at:], size); x != y {
				return fmt.Sprintf("argument %d, element %d, number %d (%v) is %#x, want %#x", arg, i, j, f.kind, y, x)
			}
			at += size
		}
	}
	return "lengths differ"
}
