package machine

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// Options are the options of a machine.
type Options struct {
	Units []*regular.Term // see Known.Free
}

// Limits of a machine.
const (
	maxKnown = 8192 // states that are interned, of 1 KB or less
	maxWays  = 1000 // in a state; a text for which there are more is not followed
)

// Machine runs a program. It is not safe for concurrent use.
type Machine struct {
	store   *regular.Store
	program *Program
	units   []*regular.Term
	entries []*entry
	lexers  map[string]*lexer
	frames  map[string]*frame
	known   map[string]*Known
	last    uint64 // number of lexers and frames
	first   *Known
	forgot  int
	budget  uint64 // of the store's work, at which Step stops
}

// entry is what a state of the program begins.
type entry struct {
	lexer *lexer // nil for none
	calls []Call
	end   bool
}

// part is a place in a lexeme.
type part struct {
	term *regular.Term
	next int32
}

// lexer is the places in the lexemes of a state after the same bytes.
type lexer struct {
	id      uint64
	parts   []part
	classes *[256]uint8
	after   []*lexer // of each class; nil for not yet known
	done    []int32  // states that follow the lexemes that end here
	free    int32
	over    bool // no lexeme goes on
}

// frame is a stack, seen from its top: what follows the end of a call.
type frame struct {
	id      uint64
	returns []back // none for the bottom
}

// back is where a call returns to.
type back struct {
	state int32
	below *frame
}

// way is a place in lexemes with a stack.
type way struct {
	lexer *lexer
	frame *frame
}

// Known is what a machine knows after a text.
type Known struct {
	ways []way
	end  bool
	next [16]*[16]*Known // by the high and the low half of the next byte; nil for not yet known
	free int32
	// Memo is for the caller, who may remember here what depends on the state alone.
	Memo any
}

// End reports whether the text is complete.
func (k *Known) End() bool { return k.end }

// Free returns how many times one of Options.Units may follow, whatever the number is.
func (k *Known) Free() int32 { return k.free }

// Start returns the machine of a program that begins with a state. The program must not be used again.
func (p *Program) Start(start int32, o Options) (*Machine, error) {
	if !p.prune()[start] {
		return nil, ErrEmpty
	}
	m := &Machine{store: p.store, program: p, units: o.Units, entries: make([]*entry, len(p.states))}
	m.Forget()
	w := walk{machine: m}
	w.enter(start, m.frame(nil))
	m.first = w.known()
	return m, nil
}

// Forget removes all that is interned.
func (m *Machine) Forget() {
	clear(m.entries)
	m.lexers, m.frames, m.known = map[string]*lexer{}, map[string]*frame{}, map[string]*Known{}
	m.forgot++
	if m.first != nil {
		m.first = m.intern(m.first.ways, m.first.end)
	}
}

// Forgot returns how many times the machine has forgotten its states, by Forget or because there were too many.
func (m *Machine) Forgot() int { return m.forgot }

// First returns the state before a text.
func (m *Machine) First() *Known { return m.first }

// dead is the state after a text with which no text of the language begins.
var dead = &Known{}

// Allow lets the machine find n terms of new states, or parts of them; beyond that, Step returns nil for all states that it does not know.
func (m *Machine) Allow(n uint64) { m.budget = m.store.Work() + n }

// Step returns the state after a further byte, or nil if no text goes on like this.
func (m *Machine) Step(k *Known, c byte) *Known {
	half := k.next[c>>4]
	if half == nil {
		half = new([16]*Known)
		k.next[c>>4] = half
	}
	next := half[c&15]
	if next == nil {
		if m.store.Work() >= m.budget {
			return nil
		}
		next = m.step(k, c)
		half[c&15] = next
	}
	if next == dead {
		return nil
	}
	return next
}

func (m *Machine) step(k *Known, c byte) *Known {
	w := walk{machine: m}
	for _, x := range k.ways {
		l := m.advance(x.lexer, c)
		if l == nil {
			continue
		}
		if !l.over {
			w.add(l, x.frame)
		}
		for _, i := range l.done {
			w.enter(i, x.frame)
		}
	}
	return w.known()
}

// Renew returns a state that keeps no others in memory, after the machine has forgotten its states.
func (m *Machine) Renew(k *Known) *Known {
	return m.intern(k.ways, k.end)
}

// advance returns the lexer after a byte, or nil.
func (m *Machine) advance(l *lexer, c byte) *lexer {
	if l.classes == nil {
		terms := make([]*regular.Term, len(l.parts))
		for i, p := range l.parts {
			terms[i] = p.term
		}
		c := regular.ClassesOf(terms...)
		l.classes, l.after = c.Table(), make([]*lexer, c.Len())
	}
	class := l.classes[c]
	next := l.after[class]
	if next == nil {
		parts := make([]part, 0, len(l.parts))
		for _, p := range l.parts {
			if d := m.store.Derive(p.term, c); m.store.Alive(d) {
				parts = append(parts, part{d, p.next})
			}
		}
		next = m.lexer(parts)
		l.after[class] = next
	}
	if len(next.parts) == 0 {
		return nil
	}
	return next
}

// lexer returns the lexer of places.
func (m *Machine) lexer(parts []part) *lexer {
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.next, b.next), cmp.Compare(a.term.ID(), b.term.ID())) })
	parts = slices.Compact(parts)
	b := make([]byte, 0, 12*len(parts))
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint64(b, p.term.ID())
		b = binary.LittleEndian.AppendUint32(b, uint32(p.next))
	}
	if l, ok := m.lexers[string(b)]; ok {
		return l
	}
	m.last++
	l := &lexer{id: m.last, parts: parts, over: true}
	for _, p := range parts {
		if p.term.Nullable() {
			l.done = append(l.done, p.next)
		}
		l.over = l.over && p.term.IsEmpty()
		for _, u := range m.units {
			l.free = max(l.free, p.term.Free(u))
		}
	}
	m.lexers[string(b)] = l
	return l
}

// frame returns the stack of places to return to.
func (m *Machine) frame(returns []back) *frame {
	slices.SortFunc(returns, func(a, b back) int { return cmp.Or(cmp.Compare(a.state, b.state), cmp.Compare(a.below.id, b.below.id)) })
	returns = slices.Compact(returns)
	b := make([]byte, 0, 12*len(returns))
	for _, r := range returns {
		b = binary.LittleEndian.AppendUint64(b, r.below.id)
		b = binary.LittleEndian.AppendUint32(b, uint32(r.state))
	}
	if f, ok := m.frames[string(b)]; ok {
		return f
	}
	m.last++
	f := &frame{id: m.last, returns: returns}
	m.frames[string(b)] = f
	return f
}

// intern returns the state of ways.
func (m *Machine) intern(ways []way, end bool) *Known {
	b := make([]byte, 1, 1+16*len(ways))
	if end {
		b[0] = 1
	}
	for _, w := range ways {
		b = binary.LittleEndian.AppendUint64(b, w.lexer.id)
		b = binary.LittleEndian.AppendUint64(b, w.frame.id)
	}
	if k, ok := m.known[string(b)]; ok {
		return k
	}
	if len(m.known) >= maxKnown {
		m.Forget()
	}
	k := &Known{ways: ways, end: end}
	for _, w := range ways {
		k.free = max(k.free, w.lexer.free)
	}
	m.known[string(b)] = k
	return k
}

// entry returns what a state of the program begins.
func (m *Machine) entry(i int32) *entry {
	if e := m.entries[i]; e != nil {
		return e
	}
	e := &entry{}
	var parts []part
	seen := map[int32]bool{i: true}
	for list := []int32{i}; len(list) > 0; {
		s := &m.program.states[list[len(list)-1]]
		list = list[:len(list)-1]
		for _, l := range s.Lexemes {
			parts = append(parts, part{l.Term, l.Next})
		}
		e.calls = append(e.calls, s.Calls...)
		e.end = e.end || s.End
		for _, next := range s.Skips {
			if !seen[next] {
				seen[next] = true
				list = append(list, next)
			}
		}
	}
	if len(parts) > 0 {
		e.lexer = m.lexer(parts)
	}
	m.entries[i] = e
	return e
}

// Text returns the state after a text, or nil.
func (m *Machine) Text(k *Known, text string) *Known {
	for i := 0; i < len(text) && k != nil; i++ {
		k = m.Step(k, text[i])
	}
	return k
}
