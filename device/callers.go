package device

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// callers are the callers of a launch, innermost first.
type callers [8]uintptr

// calledFrom returns the callers of its caller, without the innermost skip callers.
func calledFrom(skip int) (c callers) {
	runtime.Callers(skip+2, c[:])
	return c
}

// site returns the base name of the file and the line of the innermost caller outside this package,
// such as "main.go:42".
func (c *callers) site() string {
	n := 0
	for n < len(c) && c[n] != 0 {
		n++
	}
	if n == 0 {
		return ""
	}
	for frames := runtime.CallersFrames(c[:n]); ; {
		f, more := frames.Next()
		if !more || !strings.HasPrefix(f.Function, "github.com/gopherwarp/gopherwarp/device.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
	}
}
