package tensor

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/internal/stack"
)

// A Derivative is the input of an Op's function Back.
type Derivative struct {
	Grad   *Tensor   // the derivative of the loss with respect to the result
	Result *Tensor   // the result, if the Op's SaveResult is true
	Saved  []*Tensor // the tensors that the Op's Save lists
	Wanted []bool    // for each operand, whether Backward uses its derivative

	name    string    // of the operation
	sums    []*Tensor // for each operand what Sum returns
	summed  []bool    // whether Back called Sum
	targets []*Tensor // for each operand that is a parameter, where Backward adds the derivative
}

// Sum returns the part of the derivative with respect to operand i that other operations have contributed so far, or nil. If Back calls
// Sum, and the result is not nil, Back must return the sum of this result and the derivative that Back computes. Use Sum if the kernels of
// Back can add to an array at no cost.
func (d *Derivative) Sum(i int) *Tensor {
	if i < len(d.sums) && d.sums[i] != nil {
		d.summed[i] = true
		return d.sums[i]
	}
	return nil
}

// tape is the operations of a Scope that Backward goes through.
type tape struct {
	nodes  []*node
	outer  *tape       // in which Backward makes this one for a Checkpoint, or nil
	paused int         // calls of NoGrad that have not returned
	later  int         // those that Backward repeats without NoGrad
	done   bool        // Backward was called
	end    stack.Stack // where the program called it
}

// node is a variable, or the result of a recorded operation.
//
// Lifetimes: the tape owns views of the tensors that derivatives need, so that they outlive their frames. Backward releases those of a node
// when it has gone past it, and the end of the Scope the rest.
type node struct {
	tape    *tape // the last that the node was appended to
	name    string
	back    func(d *Derivative) []*Tensor
	launch  func(s *device.Stream, out *Tensor) error // computes the result from saved, which are all operands; or nil
	in      []*node                                   // of the operands, nil for constants
	saved   []*Tensor                                 // views
	result  *Tensor                                   // a view or nil
	grad    *Tensor                                   // a view of the derivative of the loss so far, or nil
	leaf    bool
	checked bool    // back must return a derivative for each operand; otherwise, it may have added one itself
	target  *Tensor // of a leaf: where Backward adds the derivative, or nil
	dtype   dtype.Type
	shape   []int
	forgot  *memory // of the result, after Forget

	few [usualOperands]*node   // room for in
	own [usualOperands]*Tensor // room for saved
}

// usualOperands is the number of operands for which a node, and the input of its derivative, need a single allocation.
const usualOperands = 3

// append adds a node.
func (t *tape) append(n *node) {
	n.tape = t
	t.nodes = append(t.nodes, n)
}

// Record begins to record operations on variables for Backward, which ends the recording. Record may then be called again. Variables remain
// variables in later recordings. The mistake is ErrRecord if Backward has not ended the preceding recording.
func (s *Scope) Record() {
	const op = "Record"
	if err := s.check(op); err != nil {
		s.fail(err)
		return
	}
	if s.tape != nil && !s.tape.done {
		s.fail(mistake(op, fmt.Errorf("%w: Record was called before", ErrRecord)))
		return
	}
	s.endRecord()
	s.tape = &tape{}
}

// endRecord frees what the tape owns.
func (s *Scope) endRecord() {
	if s.tape == nil {
		return
	}
	for _, n := range s.tape.nodes {
		n.release()
	}
	s.tape.nodes = nil
	s.tape = nil
}

// NoGrad calls f without recording. The results of f's operations are constants.
func (s *Scope) NoGrad(f func()) {
	if t := s.tape; t != nil {
		t.paused++
		defer func() { t.paused-- }()
	}
	f()
}

// Recording reports whether operations on variables are recorded. They are recorded between Record and Backward, except in NoGrad.
func (s *Scope) Recording() bool { return s.tape != nil && s.tape.paused == 0 && !s.tape.done }

// Training is like Recording, but also reports true in the first run of a function passed to Checkpoint. The operations of the function are
// recorded in its second run, during Backward.
func (s *Scope) Training() bool {
	return s.tape != nil && s.tape.paused == s.tape.later && !s.tape.done
}

// Variable returns a view of t as a variable of s. After Backward, the method Grad of the view returns its derivative. t may be a tensor
// without a Scope, such as the result of Wrap. The mistake is ErrDType if the elements are not floats, and ErrRecord if Record was not called
// before.
func (s *Scope) Variable(t *Tensor) *Tensor { return s.variable("Variable", t, nil) }

// Parameter is like Variable, for a tensor that outlives the Scope: Backward adds the derivative to grad, a tensor of floats with the shape
// of t. The mistake is ErrShape if grad does not fit t.
func (s *Scope) Parameter(t, grad *Tensor) *Tensor {
	const op = "Parameter"
	if _, err := scopeOf(op, []*Tensor{s.anchor(), grad}); err != nil {
		return s.fail(err)
	}
	return s.variable(op, t, grad)
}

// anchor returns a tensor of the Scope without elements.
func (s *Scope) anchor() *Tensor {
	if len(s.frames) == 0 {
		return &Tensor{scope: s, err: s.check("Parameter")}
	}
	return &Tensor{scope: s, memory: &memory{}}
}

func (s *Scope) variable(op string, t, grad *Tensor) *Tensor {
	v := s.use(op, t)
	switch {
	case v.err != nil:
		return v
	case s.tape == nil || s.tape.done:
		return s.fail(mistake(op, fmt.Errorf("%w: Record was not called before", ErrRecord)))
	case !isFloat(v.dtype):
		return s.fail(mistake(op, fmt.Errorf("%w: a variable of %v", ErrDType, v.dtype)))
	case grad != nil && (!isFloat(grad.dtype) || (grad.dtype == dtype.Float64) != (v.dtype == dtype.Float64) || !equal(grad.shape, v.shape)):
		return s.fail(mistake(op, fmt.Errorf("%w: a derivative of %v %v for %v %v", ErrShape, grad.dtype, grad.shape, v.dtype, v.shape)))
	}
	n := &node{name: op, leaf: true, target: grad, dtype: v.dtype, shape: v.shape}
	s.tape.append(n)
	v.node = n
	return v
}

// Grad returns the derivative of the last Backward's loss with respect to the variable t. The derivative has the shape and the element type of
// t, and is 0 if the loss does not depend on t. The mistake is ErrRecord if t is not a variable, or Backward was not called.
func (t *Tensor) Grad() *Tensor {
	const op = "Grad"
	s, err := scopeOf(op, []*Tensor{t})
	switch {
	case err != nil:
		return failed(s, err)
	case t.node == nil || !t.node.leaf || t.node.target != nil:
		return s.fail(mistake(op, fmt.Errorf("%w: the tensor is not a variable", ErrRecord)))
	case s.tape == nil || !s.tape.done:
		return s.fail(mistake(op, fmt.Errorf("%w: Backward was not called before", ErrRecord)))
	case t.node.grad == nil:
		return s.zeros(op, t.dtype, t.shape)
	}
	return s.view(t.node.grad, *t.node.grad)
}

// NeedsGrad reports whether operations on t are recorded. This is so if t's Scope records and t is a variable or depends on a
// variable.
func (t *Tensor) NeedsGrad() bool { return t != nil && t.node != nil && t.scope.Recording() }

// Recorded is like NeedsGrad, but also reports true within NoGrad. If it reports true, a function must not change t in place, because
// Backward may need the present elements of t.
func (t *Tensor) Recorded() bool {
	return t != nil && t.node != nil && t.scope.tape != nil && !t.scope.tape.done
}

// recording reports whether an operation on operands is recorded. The operands that are variables become variables of the present recording,
// also in the first run of a Checkpoint: there, Backward learns of the parameters that its second run uses.
func (s *Scope) recording(x, y *Tensor) bool {
	if x.node == nil && (y == nil || y.node == nil) || !s.Training() {
		return false
	}
	s.renew(x.node)
	if y != nil {
		s.renew(y.node)
	}
	return s.Recording()
}

// step is an operation to record.
type step struct {
	name       string
	in         []*Tensor
	back       func(d *Derivative) []*Tensor
	save       []*Tensor
	saveResult bool
	checked    bool // see node
	always     bool // also if no operand depends on a variable
}

// record adds an operation to the tape if one of its operands depends on a variable.
func (s *Scope) record(out *Tensor, o step) {
	any := o.always
	for _, t := range o.in {
		any = s.recording(t, nil) || any
	}
	if !any || o.back == nil || out.err != nil || !isFloat(out.dtype) {
		return
	}
	n := &node{name: o.name, back: o.back, checked: o.checked, dtype: out.dtype, shape: out.shape}
	n.in, n.saved = n.few[:0], n.own[:0]
	for _, t := range o.in {
		n.in = append(n.in, s.link(o.name, t))
	}
	for _, t := range o.save {
		n.saved = append(n.saved, s.hold(t))
	}
	if o.saveResult {
		n.result = s.hold(out)
	}
	out.node = n
	s.tape.append(n)
}

// hold returns a view of t that belongs to no frame.
func (s *Scope) hold(t *Tensor) *Tensor {
	t.memory.views++
	t.memory.held++
	return &Tensor{scope: s, memory: t.memory, dtype: t.dtype, shape: t.shape, strides: t.strides, offset: t.offset, version: t.memory.version}
}

// drop ends a view of hold.
func drop(t *Tensor) {
	if t != nil {
		t.memory.held--
		t.memory.release()
	}
}

// release frees what a node holds.
func (n *node) release() {
	for _, t := range n.saved {
		drop(t)
	}
	drop(n.result)
	drop(n.grad)
	n.saved, n.result, n.grad = nil, nil, nil
	if n.forgot != nil {
		n.forgot.again = nil // which needs saved
	}
}

// Backward ends the recording, and computes the derivatives of loss, a tensor with one element, with respect to all variables. For a variable
// made by Parameter, Backward adds the derivative to Parameter's argument grad. The order of additions depends only on the program. The
// mistake is ErrRecord if Record was not called, loss does not depend on a variable, or loss depends on a result of an earlier recording. The
// mistake is ErrShape if loss has several elements, and ErrChanged if the program has changed elements that a derivative needs (see Changed).
func (s *Scope) Backward(loss *Tensor) { s.BackwardEach(loss, nil) }

// BackwardEach is like Backward. In addition, it calls final for each variable made by Parameter, with Parameter's argument grad, as soon
// as the last addition to grad has been enqueued on the Scope's stream. final may be nil. The order of the calls depends only on the
// program. A function passed to Checkpoint runs twice. It must make the same calls of Parameter in both runs, because BackwardEach learns
// of them from the first one; otherwise it may call final too early.
func (s *Scope) BackwardEach(loss *Tensor, final func(grad *Tensor)) {
	const op = "Backward"
	owner, err := scopeOf(op, []*Tensor{s.anchor(), loss})
	if err != nil {
		failed(owner, err)
		return
	}
	switch t := s.tape; {
	case t == nil:
		err = fmt.Errorf("%w: Record was not called before", ErrRecord)
	case t.done:
		err = fmt.Errorf("%w: Backward was called before, at %s", ErrRecord, t.end.Line())
	case loss.Len() != 1:
		err = fmt.Errorf("%w: a loss of shape %v", ErrShape, loss.shape)
	case loss.node == nil:
		err = fmt.Errorf("%w: the loss does not depend on a variable", ErrRecord)
	default:
		if s.renew(loss.node); !t.holds(loss.node) {
			err = fmt.Errorf("%w: the loss is a result of the recording that ended at %s", ErrRecord, loss.node.tape.end.Line())
		}
	}
	if err != nil {
		s.fail(mistake(op, err))
		return
	}
	s.tape.done = true
	s.tape.end.Take()
	s.Tidy(func() *Tensor {
		loss.node.grad = s.hold(s.full(op, 1, loss.dtype, loss.shape))
		return nil
	})
	s.tape.backward(s, final)
}

// backward goes through the operations from the last, and calls final, unless it is nil, when it has gone past all uses of a parameter.
func (t *tape) backward(s *Scope, final func(grad *Tensor)) {
	first := map[*Tensor]*node{} // of the nodes with the same target
	if final != nil {
		for _, n := range slices.Backward(t.nodes) {
			if n.target != nil {
				first[n.target] = n
			}
		}
	}
	for i := len(t.nodes) - 1; i >= 0 && s.err == nil; i-- {
		n := t.nodes[i]
		n.backward(s, &t.end)
		if n.target != nil && first[n.target] == n && s.err == nil {
			final(n.target)
		}
	}
}

// backward adds the derivatives with respect to a node's operands, in a call of Backward at the given line.
func (n *node) backward(s *Scope, at *stack.Stack) {
	if n.leaf {
		if n.target != nil && n.grad != nil {
			n.accumulate(s)
		}
		return
	}
	defer n.release()
	if n.grad == nil {
		return
	}
	err := n.unchanged()
	if err == nil {
		err = n.restore(s)
	}
	if err != nil {
		s.fail(mistake("Backward", err))
		return
	}
	s.tidy(at, func() *Tensor {
		d := n.derivative()
		list := n.back(d)
		if n.checked && s.err == nil {
			n.check(s, list)
		}
		for i, in := range n.in {
			if in != nil && i < len(list) && list[i] != nil && s.err == nil {
				if d.summed[i] {
					drop(in.grad)
					in.grad = nil
				}
				in.add(s, n.name, list[i])
			}
		}
		return nil
	})
}

// check reports the mistake of a function Back that does not return a derivative for each operand that needs one.
func (n *node) check(s *Scope, list []*Tensor) {
	if len(list) != len(n.in) {
		s.fail(mistake(n.name, fmt.Errorf("%w: Back returned %d derivatives for %d operands", ErrShape, len(list), len(n.in))))
		return
	}
	for i, in := range n.in {
		if in != nil && list[i] == nil {
			s.fail(mistake(n.name, fmt.Errorf("%w: Back returned nil for operand %d of %d, whose derivative is wanted", ErrShape, i, len(n.in))))
			return
		}
	}
}

// derivative returns what Back computes with.
func (n *node) derivative() *Derivative {
	r := &struct {
		Derivative
		wanted, summed [usualOperands]bool
		sums, targets  [usualOperands]*Tensor
	}{}
	d := &r.Derivative
	d.name, d.Grad, d.Result, d.Saved = n.name, n.grad, n.result, n.saved
	d.Wanted, d.summed, d.sums, d.targets = r.wanted[:0], r.summed[:0], r.sums[:0], r.targets[:0]
	for i, in := range n.in {
		var sum, target *Tensor
		if in != nil {
			target = in.target
			if slices.Index(n.in, in) == i { // of an operand that is there twice, once
				sum = in.grad
			}
		}
		d.Wanted, d.summed = append(d.Wanted, in != nil), append(d.summed, false)
		d.sums, d.targets = append(d.sums, sum), append(d.targets, target)
	}
	return d
}

// unchanged returns the mistake of a program that has changed what a node holds.
func (n *node) unchanged() error {
	for _, t := range n.saved {
		if t.version != t.memory.version {
			return fmt.Errorf("%w: the derivative of %s needs its operand of %v %v, which was changed at %s", ErrChanged, n.name, t.dtype, t.shape, t.memory.changed.Line())
		}
	}
	if t := n.result; t != nil && t.version != t.memory.version {
		return fmt.Errorf("%w: the derivative of %s needs its result of %v %v, which was changed at %s", ErrChanged, n.name, t.dtype, t.shape, t.memory.changed.Line())
	}
	return nil
}

// add adds a part of the derivative with respect to a node.
func (n *node) add(s *Scope, op string, g *Tensor) {
	if g.err != nil {
		s.fail(g.err)
		return
	}
	var r room
	if shape, err := broadcast(r[:0], g.shape, n.shape); err != nil || !equal(shape, g.shape) || !isFloat(g.dtype) {
		s.fail(mistake(op, fmt.Errorf("%w: a derivative of %v %v for %v %v", ErrShape, g.dtype, g.shape, n.dtype, n.shape)))
		return
	}
	if g = g.sumTo(n.shape).To(n.dtype); g.err != nil {
		return
	}
	if n.grad != nil {
		sum := n.grad.Add(g)
		if sum.err != nil {
			return
		}
		drop(n.grad)
		n.grad, g = nil, sum
	}
	n.grad = s.hold(g)
}

// accumulate adds the derivative of a parameter to its target.
func (n *node) accumulate(s *Scope) {
	x := array.Operands{Op: array.Add, X: n.target.array(), Y: n.grad.array(), Out: n.target.array()}
	if err := array.Apply(s.stream, n.shape, &x); err != nil {
		s.fail(mistake("Backward", err))
	}
}
