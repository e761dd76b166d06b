package cpu

import (
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// whole takes blocks and runs them by the kernel's twin, until none is left.
func (w *worker) whole() {
	for first, end := range w.chunks {
		w.walk.Range(first, end, &w.launch.last)
		w.twin()
	}
}

// twin runs the blocks of w.walk.
func (w *worker) twin() {
	defer w.catchTwin()
	w.launch.kernel.Twin(&w.blocks, w.launch.args)
}

// catchTwin is deferred around a twin. The kernel's own mistakes are no panics there, but it may
// come to a machine's fault, or the twin is wrong.
func (w *worker) catchTwin() {
	if v := recover(); v != nil {
		file, line := panicked()
		w.fault(w.walk.Number(), simt.Fault{File: file, Line: line, Format: "%s", Args: []any{message(v)}})
	}
}

// fault reports what a thread of the block with the given number did.
func (w *worker) fault(number int64, f simt.Fault) {
	w.launch.report(number, &driver.Fault{
		Kernel: w.launch.kernel.Name, Package: w.launch.kernel.Package, File: f.File, Line: f.Line,
		Message: driver.Message(f.Format, f.Args...),
		Block:   w.block.Index, Thread: f.Thread,
	})
}
