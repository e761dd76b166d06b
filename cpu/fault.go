package cpu

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// catch is deferred around a kernel. It turns a panic into the launch's fault.
func (w *worker) catch(ts *gpu.Threads) {
	v := recover()
	if v == nil || v == any(simt.Halted{}) {
		return
	}
	if c := w.block.Cluster; c != nil {
		if _, waited := v.(deadlock); !waited {
			c.Faulted.Store(true)
		} else if c.Faulted.Load() { // for a thread that has faulted, perhaps one of a later block
			return
		}
	}
	file, line := panicked()
	w.launch.report(w.number, &driver.Fault{
		Kernel: w.launch.kernel.Name, Package: w.launch.kernel.Package, File: file, Line: line,
		Message: message(v),
		Block:   w.block.Index, Thread: ts.Index(),
	})
}

// message returns the text that Go prints for a panic with v, without the prefix of run-time
// errors.
func message(v any) string { return strings.TrimPrefix(fmt.Sprint(v), "runtime error: ") }

// libraryPrefixes match the functions in which a kernel may panic because of a mistake in their
// caller.
var libraryPrefixes = []string{
	"runtime.", "internal/runtime/", "cmp.", "iter.", "math.", "math/bits.", "slices.", "sync/atomic.", "unicode/utf8.",
	"github.com/gopherwarp/gopherwarp/gpu.", "github.com/gopherwarp/gopherwarp/internal/simt.",
	"github.com/gopherwarp/gopherwarp/cpu.undeclared", "github.com/gopherwarp/gopherwarp/cpu.(*meetings).",
}

// panicked returns the base name of the file and the line of the statement that panicked. The
// deferred function that recovers calls it: the frame above the runtime's gopanic is the code that
// panicked.
func panicked() (file string, line int) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for thrown := false; ; {
		f, more := frames.Next()
		if thrown && !isLibrary(f.Function) || !more {
			return filepath.Base(f.File), f.Line
		}
		thrown = thrown || f.Function == "runtime.gopanic"
	}
}

// isLibrary reports whether function matches one of the prefixes, or is assembly without a package.
func isLibrary(function string) bool {
	if !strings.Contains(function, ".") {
		return true
	}
	for _, w := range libraryPrefixes {
		if strings.HasPrefix(function, w) {
			return true
		}
	}
	return false
}
