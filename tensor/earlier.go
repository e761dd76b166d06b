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
	if n != nil && n.leaf && n.tape != s.tape { // which costs little for each operation
		s.move(n)
	}
}

// move is renew for a variable of another tape.
func (s *Scope) move(n *node) {
	t := s.tape
	if t.holds(n) {
		return
	}
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
	if n := t.node; n == nil || n.tape == s.tape {
		return n
	}
	return s.linkOther(op, t)
}

// linkOther is link for a node of another tape.
func (s *Scope) linkOther(op string, t *Tensor) *node {
	if s.renew(t.node); s.tape.holds(t.node) {
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
