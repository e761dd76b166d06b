package tensor

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/stack"
	"github.com/gopherwarp/gopherwarp/prim"
)

// A Scope owns tensors. Operations on them run on the Scope's stream, in the order of the program's calls.
type Scope struct {
	ctx    context.Context
	stream *device.Stream
	begun  stack.Stack        // where the program made the Scope
	frames []*frame           // the innermost is the last
	spare  []*Tensor          // memory for the tensors of the next frame, or nil
	tape   *tape              // of the last Record, or nil
	spans  map[[3]int]*Tensor // of Attention, for batches of tokens
	random prim.Sequence
	// strides is where operations make the strides of operands, each for its next launch.
	strides [2]room
	err     error // the first mistake
}

// frame owns the tensors that were made while it was the innermost one.
type frame struct {
	tensors []*Tensor
	ended   bool
	end     stack.Stack // where the program ended it
}

// Run calls f with a Scope on a device, waits for the operations, and frees the Scope's tensors. It returns f's error, or else the
// first mistake of the Scope, or the fault of a kernel.
func Run(ctx context.Context, dev *device.Device, f func(s *Scope) error) error {
	stream, err := dev.NewStream()
	if err != nil {
		return err
	}
	err = RunOn(ctx, stream, f)
	return errors.Join(err, stream.Close())
}

// RunOn is like Run, but uses a stream of the caller, which remains open. Each call of Run makes a stream; RunOn saves this
// cost. On a stream that records a graph, RunOn does not wait, and the tensors' memory belongs to the graph.
func RunOn(ctx context.Context, stream *device.Stream, f func(s *Scope) error) error {
	err := Enqueue(ctx, stream, f)
	if stream.Recording() {
		return err
	}
	return errors.Join(err, stream.Synchronize(ctx))
}

// Enqueue is like RunOn, but does not wait: the operations may still be running when Enqueue returns. The memory of the Scope's tensors is
// freed after the operations, in the stream's order. If a kernel faults, the stream's next Synchronize returns the error.
func Enqueue(ctx context.Context, stream *device.Stream, f func(s *Scope) error) error {
	s := &Scope{ctx: ctx, stream: stream, frames: []*frame{{}}}
	s.begun.Take()
	defer s.close() // also if f panics
	if err := f(s); err != nil {
		return err
	}
	return s.err
}

// close frees all tensors.
func (s *Scope) close() {
	s.endRecord()
	for len(s.frames) > 0 {
		s.pop(nil, nil)
	}
}

// Stream returns the stream on which the Scope's operations run.
func (s *Scope) Stream() *device.Stream { return s.stream }

// Context returns the context of Run.
func (s *Scope) Context() context.Context { return s.ctx }

// Err returns the first mistake, or nil.
func (s *Scope) Err() error { return s.err }

// Tidy calls f in a new frame, and then frees the tensors of this frame, except f's result and the tensors passed to Keep. Those belong to the
// enclosing frame afterwards.
func (s *Scope) Tidy(f func() *Tensor) *Tensor { return s.tidy(nil, f) }

// tidy is Tidy for a function that ends at a given line of the program, or if it is nil, at the present one.
func (s *Scope) tidy(end *stack.Stack, f func() *Tensor) *Tensor {
	s.frames = append(s.frames, &frame{tensors: s.spare})
	s.spare = nil
	depth := len(s.frames)
	var result *Tensor
	defer func() {
		if len(s.frames) == depth { // f may have panicked
			s.pop(result, end)
		}
	}()
	result = f()
	return result
}

// Keep moves tensors from the innermost frame to the enclosing frame, so that Tidy does not free them.
func (s *Scope) Keep(list ...*Tensor) {
	for _, t := range list {
		s.keep(t, len(s.frames)-1)
	}
}

// keep moves t to the frame outside the given one if t belongs to that one.
func (s *Scope) keep(t *Tensor, frame int) {
	if t == nil || frame < 1 || t.frame != s.frames[frame] {
		return
	}
	t.frame = s.frames[frame-1]
	t.frame.tensors = append(t.frame.tensors, t)
}

// pop ends the innermost frame and frees its tensors except result. See tidy for end.
func (s *Scope) pop(result *Tensor, end *stack.Stack) {
	last := len(s.frames) - 1
	f := s.frames[last]
	s.keep(result, last)
	if f.ended = true; end != nil {
		f.end = *end
	} else {
		f.end.Take()
	}
	for _, t := range f.tensors {
		if t.frame == f {
			t.memory.release()
		}
	}
	clear(f.tensors)
	s.spare, f.tensors = f.tensors[:0], nil
	s.frames = s.frames[:last]
}

// add makes t a tensor of the innermost frame.
func (s *Scope) add(t *Tensor) *Tensor {
	f := s.frames[len(s.frames)-1]
	t.scope, t.frame = s, f
	f.tensors = append(f.tensors, t)
	return t
}

// fail keeps the first mistake and returns a void tensor. A Scope that has ended keeps none, because Run has returned its first one.
func (s *Scope) fail(err error) *Tensor {
	if len(s.frames) == 0 {
		return &Tensor{scope: s, err: err}
	}
	if s.err == nil {
		s.err = err
	}
	return &Tensor{scope: s, err: s.err}
}

// scopeOf returns the Scope of operands: tensors without a Scope fit any. The error is the first mistake that made an operand void,
// or that of operands that cannot be used together, or any more. Then the Scope is one that has not ended, if an operand has one.
func scopeOf(op string, operands []*Tensor) (*Scope, error) {
	var s *Scope
	for _, t := range operands {
		if t == nil || t.err != nil || t.freed() || t.scope != nil && s != nil && t.scope != s {
			return liveScope(operands), misuse(op, operands)
		}
		if t.scope != nil {
			s = t.scope
		}
	}
	if s == nil {
		return nil, mistake(op, fmt.Errorf("%w: no operand has a scope; Scope.Use gives it one", ErrScope))
	}
	return s, nil
}

// freed reports whether the frame of t has ended.
func (t *Tensor) freed() bool { return t.frame != nil && t.frame.ended }

// liveScope returns the first Scope of operands that has not ended, or else the first Scope, or nil.
func liveScope(operands []*Tensor) *Scope {
	var s *Scope
	for _, t := range operands {
		if t != nil && t.scope != nil && (s == nil || len(s.frames) == 0 && len(t.scope.frames) > 0) {
			s = t.scope
		}
	}
	return s
}

// misuse returns the mistake of scopeOf. An operand that is void comes first, because its mistake was made before, and tensors of two Scopes
// last, because a tensor that was freed with its Scope is the cause of most of these mistakes.
func misuse(op string, operands []*Tensor) error {
	var s *Scope
	var freed, mixed error
	for _, t := range operands {
		if t != nil && t.err != nil {
			return t.err
		}
	}
	for _, t := range operands {
		switch {
		case t == nil:
			return mistake(op, errNil)
		case t.freed() && freed == nil:
			freed = mistake(op, fmt.Errorf("%w: the tensor was freed at %s", ErrScope, t.frame.end.Line()))
		case s != nil && t.scope != nil && t.scope != s && mixed == nil:
			mixed = twoScopes(op, s, t.scope)
		}
		if s == nil {
			s = t.scope
		}
	}
	if freed != nil {
		return freed
	}
	return mixed
}

// twoScopes returns the mistake of a call of op with tensors of both Scopes, of two devices or two goroutines for example.
func twoScopes(op string, a, b *Scope) error {
	return mistake(op, fmt.Errorf("%w: tensors of two scopes, which began at %s and %s", ErrScope, a.begun.Line(), b.begun.Line()))
}
