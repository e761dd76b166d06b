package tensor

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/stack"
)

// memory is the device memory of a tensor and its views.
//
// Lifetimes: the last view that is released closes the buffer. The device frees it in stream order, after the operations that use it.
type memory struct {
	bytes  device.Slice[byte]
	buffer device.Buffer[byte]
	owned  bool // the buffer has the bytes; otherwise, they belong to the caller of Wrap
	views  int

	version int          // the number of calls of Changed
	changed *stack.Stack // where the program called it last
}

// release ends a view. A failure to close the buffer is the device's, which reports it at the next Synchronize.
func (m *memory) release() {
	if m.views--; m.views == 0 && m.owned {
		_ = m.buffer.Close()
	}
}

// Changed declares that the program has changed the elements of tensors, by a kernel or a copy of its own. If the derivative of a recorded
// operation needs the old elements, Backward reports a mistake that wraps ErrChanged and names the lines of the operation and of the call
// of Changed.
func Changed(list ...*Tensor) {
	here := new(stack.Stack)
	here.Take()
	for _, t := range list {
		if t.err == nil {
			t.memory.version++
			t.memory.changed = here
		}
	}
}
