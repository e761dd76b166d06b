package device

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// callers are the functions that led to an allocation or a launch, the innermost first.
type callers [8]uintptr

// calledFrom returns the callers of the function that calls it, without those nearest.
func calledFrom(skip int) (c callers) {
	runtime.Callers(skip+2, c[:])
	return c
}

// site returns the file, as its base name, and the line of the innermost function that is not
// this package's: "main.go:42".
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
