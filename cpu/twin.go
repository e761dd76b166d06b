package cpu

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// whole takes blocks and runs them by the kernel's twin, until none is left.
func (w *worker) whole() {
	l := w.launch
	for {
		end := l.next.Add(l.chunk)
		if first := end - l.chunk; first < l.total && first <= l.last.Load() {
			w.walk.Range(first, min(end, l.total), &l.last)
			w.twin()
		}
		if end >= l.total {
			return
		}
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
	w.launch.report(number, &device.Fault{
		Kernel: w.launch.kernel.Name, File: f.File, Line: f.Line, Message: device.Message(f.Format, f.Args...),
		Block: w.block.Index, Thread: f.Thread,
	})
}
