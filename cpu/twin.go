package cpu

import (
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// whole takes blocks and runs them with the kernel's twin, until none is left.
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

// catchTwin is deferred around a twin. A twin reports the kernel's own faults without panics, so a
// panic is a hardware fault, or a mistake in the twin.
func (w *worker) catchTwin() {
	if v := recover(); v != nil {
		file, line := panicked()
		w.fault(w.walk.Number(), simt.Fault{File: file, Line: line, Format: "%s", Args: []any{message(v)}})
	}
}

// fault reports the fault of a thread in the block with the given number.
func (w *worker) fault(number int64, f simt.Fault) {
	w.launch.report(number, &driver.Fault{
		Kernel: w.launch.kernel.Name, Package: w.launch.kernel.Package, File: f.File, Line: f.Line,
		Message: driver.Message(f.Format, f.Args...),
		Block:   w.block.Index, Thread: f.Thread,
	})
}
