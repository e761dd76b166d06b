package tensor

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/stack"
)

// memory is the device memory of a tensor and its views.
//
// Lifetimes: the last view that is released closes the buffer. The device frees it in stream order, after the operations that use it. After
// Forget, the buffer is closed as soon as only tapes hold views, and Backward makes another one for the first operation that needs it, which
// remains.
type memory struct {
	bytes  device.Slice[byte]
	buffer device.Buffer[byte]
	owned  bool // the buffer has the bytes; otherwise, they belong to the caller of Wrap
	views  int
	held   int // the views that tapes hold for derivatives

	again func(s *Scope) error // computes the elements again, after Forget, or nil
	gone  bool                 // the buffer is closed until then

	version int          // the number of calls of Changed while a tape held a view
	changed *stack.Stack // where the program called it last
}

// release ends a view. A failure to close the buffer is the device's, which reports it at the next Synchronize.
func (m *memory) release() {
	m.views--
	last, forget := m.views == 0, m.again != nil && m.views == m.held
	if m.owned && !m.gone && (last || forget) {
		_ = m.buffer.Close()
		m.gone = true
	}
}

// restore makes elements available that were forgotten.
func (m *memory) restore(s *Scope) error {
	again := m.again
	if m.again = nil; !m.gone || again == nil {
		return nil
	}
	b, err := device.DirtyBuffer[byte](s.stream, m.bytes.Len())
	if err != nil {
		return err
	}
	m.buffer, m.bytes, m.gone = b, b.All(), false
	return again(s)
}

// Forget returns t, and allows the elements of t to be freed at the end of t's frame although Backward needs them: Backward computes them again,
// which saves memory. Forget has an effect only on a recorded result of RMSNorm or SwiGLU.
func (t *Tensor) Forget() *Tensor {
	if t.node == nil || t.node.launch == nil || t.offset != 0 || !t.scope.tape.holds(t.node) || t.node.saved == nil {
		return t
	}
	n, m := t.node, t.memory
	n.forgot = m
	out := &Tensor{memory: m, dtype: t.dtype, shape: t.shape, strides: t.strides}
	m.again = func(s *Scope) error {
		if err := n.unchanged(); err != nil {
			return err
		}
		if err := n.restore(s); err != nil {
			return err
		}
		return n.launch(s.stream, out)
	}
	return t
}

// restore makes elements available that a node's derivative needs.
func (n *node) restore(s *Scope) error {
	for _, t := range n.saved {
		if err := t.memory.restore(s); err != nil {
			return err
		}
	}
	if n.result != nil {
		return n.result.memory.restore(s)
	}
	return nil
}

// Changed declares that the program has changed the elements of tensors, by a kernel or a copy of its own. If the derivative of a recorded
// operation needs the old elements, Backward reports the mistake ErrChanged.
func Changed(list ...*Tensor) {
	var here *stack.Stack
	for _, t := range list {
		if t == nil || t.err != nil || t.memory.held == 0 { // then no derivative needs the old elements
			continue
		}
		if here == nil {
			here = new(stack.Stack)
			here.Take()
		}
		t.memory.version++
		t.memory.changed = here
	}
}
