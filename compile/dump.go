package compile

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// dumpVariable is the environment variable that names the kernel to write.
const dumpVariable = "GOPHERWARP_DUMP"

// dump is where a kernel's function is written after every pass; nil if it is not.
type dump struct {
	io.Writer
	closer io.Closer
}

// newDump returns what the environment asks for: GOPHERWARP_DUMP=kernel or kernel=file.
func newDump(kernel string) (*dump, error) {
	name, file, ok := strings.Cut(os.Getenv(dumpVariable), "=")
	switch {
	case name != kernel:
		return nil, nil
	case !ok:
		return &dump{Writer: os.Stderr}, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, fmt.Errorf("compile: %s: %w", dumpVariable, err)
	}
	return &dump{Writer: f, closer: f}, nil
}

// pass returns the function that writes, or nil.
func (d *dump) pass() func(string, *ir.Func) {
	if d == nil {
		return nil
	}
	return func(pass string, f *ir.Func) {
		if pass == "" {
			pass = "before the first pass"
		} else {
			pass = "after " + pass
		}
		fmt.Fprintf(d, "-- %s %s --\n%v\n", f.Name, pass, f)
	}
}

// watch returns what is called after every pass, or nil.
func (j *job) watch() func(string, *ir.Func) {
	if j.options.Trace == nil {
		return j.dump.pass()
	}
	return j.options.Trace
}

func (d *dump) close() error {
	if d == nil || d.closer == nil {
		return nil
	}
	return d.closer.Close()
}
