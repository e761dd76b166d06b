package machine

import (
	"cmp"
	"slices"
)

// walk collects the ways after a byte.
type walk struct {
	machine *Machine
	ways    []way
	end     bool
	entered []back
	calls   []call
}

// call is a call with its place to return to.
type call struct {
	start int32
	back  back
}

// add adds a way.
func (w *walk) add(l *lexer, f *frame) {
	x := way{l, f}
	if !slices.Contains(w.ways, x) && len(w.ways) <= maxWays {
		w.ways = append(w.ways, x)
	}
}

// enter adds what a state begins. Calls are collected, since those of the same state share their stack.
func (w *walk) enter(state int32, f *frame) {
	at := back{state, f}
	if slices.Contains(w.entered, at) || len(w.entered) > maxWays {
		return
	}
	w.entered = append(w.entered, at)
	e := w.machine.entry(state)
	if e.lexer != nil {
		w.add(e.lexer, f)
	}
	for _, c := range e.calls {
		w.calls = append(w.calls, call{c.Start, back{c.Next, f}})
	}
	if !e.end {
		return
	}
	if len(f.returns) == 0 {
		w.end = true
	}
	for _, r := range f.returns {
		w.enter(r.state, r.below)
	}
}

// known returns the state of the ways.
func (w *walk) known() *Known {
	slices.SortFunc(w.calls, func(a, b call) int { return cmp.Compare(a.start, b.start) })
	for len(w.calls) > 0 {
		n := 1
		for n < len(w.calls) && w.calls[n].start == w.calls[0].start {
			n++
		}
		returns := make([]back, n)
		for i, c := range w.calls[:n] {
			returns[i] = c.back
		}
		if e := w.machine.entry(w.calls[0].start); e.lexer != nil {
			w.add(e.lexer, w.machine.frame(returns))
		}
		w.calls = w.calls[n:]
	}
	if len(w.ways) > maxWays || len(w.entered) > maxWays || len(w.ways) == 0 && !w.end {
		return dead
	}
	slices.SortFunc(w.ways, func(a, b way) int {
		return cmp.Or(cmp.Compare(a.lexer.id, b.lexer.id), cmp.Compare(a.frame.id, b.frame.id))
	})
	return w.machine.intern(w.ways, w.end)
}
