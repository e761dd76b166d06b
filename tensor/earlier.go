package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/stack"
)

// holds reports whether n is a node of t, or of a recording in which Backward makes t for a Checkpoint.
func (t *tape) holds(n *node) bool {
	for ; t != nil; t = t.outer {
		if n.tape == t {
			return true
		}
	}
	return false
}

// renew makes a variable of an earlier recording a variable of the present one. All tensors with its node are then variables of the present
// recording.
func (s *Scope) renew(n *node) {
	if n == nil || !n.leaf || s.tape.holds(n) {
		return
	}
	t := s.tape
	if n.target == nil { // Grad needs the derivative when the recordings of Checkpoints have ended
		for t.outer != nil {
			t = t.outer
		}
	}
	t.append(n)
}

// link returns the node of an operand of op, or nil for a constant. For a result of an earlier recording, the node reports the mistake if
// Backward reaches it.
func (s *Scope) link(op string, t *Tensor) *node {
	s.renew(t.node)
	if t.node == nil || s.tape.holds(t.node) {
		return t.node
	}
	var use stack.Stack
	use.Take()
	ended := t.node.tape.end
	n := &node{name: op, dtype: t.dtype, shape: t.shape}
	n.back = func(*Derivative) []*Tensor {
		err := fmt.Errorf("%w: Backward needs the derivative of an operand of %v %v, a result of the recording that ended at %s", ErrRecord, n.dtype, n.shape, ended.Line())
		s.fail(&Error{op, use.Line(), err})
		return nil
	}
	s.tape.append(n)
	return n
}
