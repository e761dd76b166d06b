package grammar

import (
	"fmt"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/grammar/internal/machine"
)

// A Matcher follows a text as it is generated. A Matcher is not safe for concurrent use, but different Matchers of a Grammar may be used
// concurrently.
type Matcher struct {
	grammar    *Grammar
	vocabulary *Vocabulary
	state      *machine.Known
	forgot     int
	ended      bool
}

// NewMatcher returns a Matcher for a new text.
func (g *Grammar) NewMatcher(v *Vocabulary) *Matcher {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return &Matcher{grammar: g, vocabulary: v, state: g.machine.First(), forgot: g.machine.Forgot()}
}

// Ended reports whether a token has ended the text.
func (m *Matcher) Ended() bool { return m.ended }

// Complete reports whether the text may end here.
func (m *Matcher) Complete() bool { return m.state.End() }

// mask is what a state remembers.
type mask struct {
	vocabulary *Vocabulary
	words      []uint32
	any        bool
}

// Mask sets the bits of the tokens that may follow, and clears the other bits. Bit i%32 of bits[i/32] belongs to token i. The slice may be longer
// than Vocabulary.Words. The error is ErrStuck or nil.
func (m *Matcher) Mask(bits []uint32) error {
	clear(bits)
	if m.ended {
		return ErrStuck
	}
	m.grammar.mutex.Lock()
	defer m.grammar.mutex.Unlock()
	m.renew()
	known, ok := m.state.Memo.(*mask)
	if !ok || known.vocabulary != m.vocabulary {
		m.grammar.remember()
		m.renew()
		known = m.compute()
		m.state.Memo = known
	}
	if !known.any {
		return ErrStuck
	}
	copy(bits, known.words)
	return nil
}

// Limits of a grammar.
const (
	maxMasks = 512     // that it remembers, each of a bit for each token
	maxWork  = 4 << 20 // for one mask, in the machine's units, of which a million take about a second
)

// remember makes room for a further mask.
func (g *Grammar) remember() {
	g.machine.Allow(maxWork)
	if g.masks++; g.masks > maxMasks {
		g.machine.Forget()
		g.masks = 1
	}
}

// compute returns the mask of the state.
func (m *Matcher) compute() *mask {
	v := m.vocabulary
	k := &mask{vocabulary: v, words: make([]uint32, v.Words())}
	m.plain(k.words)
	m.walk(v.other, k.words, math.MaxInt)
	if m.state.End() {
		for _, id := range v.ends {
			k.words[id/32] |= 1 << (id % 32)
		}
	}
	k.any = slices.ContainsFunc(k.words, func(w uint32) bool { return w != 0 })
	return k
}

// plain sets the bits of the plain tokens that may follow: those with as many characters as may follow whatever they are, and then
// others.
func (m *Matcher) plain(words []uint32) {
	for _, d := range slices.Backward(m.vocabulary.sizes) {
		if m.state.Free() >= d.characters {
			copy(words, d.short)
			m.walk(d.long, words, maxPlain)
			return
		}
	}
	m.branch(words)
}

// branch sets the bits of the plain tokens that may follow. If nearly any may, as at the beginning of a name that is not one of a few, it
// begins with all.
func (m *Matcher) branch(words []uint32) {
	t, run := m.vocabulary.texts, m.grammar.machine
	var rest []tree
	all := 0
	for i := 0; i < len(t); i += int(t[i].size) {
		below := t[i : i+int(t[i].size)]
		if next := run.Step(m.state, t[i].byte); next != nil && next.Free() >= maxPlain {
			all += len(below)
		} else {
			rest = append(rest, below)
		}
	}
	if 2*all < len(t) {
		m.walk(t, words, maxPlain)
		return
	}
	copy(words, m.vocabulary.plain)
	for _, below := range rest {
		below.exclude(words)
		m.walk(below, words, maxPlain)
	}
}

// walk sets the bits of the tokens of a tree that may follow. After a state in which at least free characters may follow, whatever they
// are, all tokens may.
func (m *Matcher) walk(t tree, words []uint32, free int) {
	states := make([]*machine.Known, 1, 64)
	states[0] = m.state
	run := m.grammar.machine
	for i := 0; i < len(t); {
		x := &t[i]
		if x.size == again {
			words[x.token/32] |= 1 << (x.token % 32)
			i++
			continue
		}
		next := run.Step(states[x.depth], x.byte)
		switch {
		case next == nil:
			i += int(x.size)
			continue
		case int(next.Free()) >= free:
			t[i : i+int(x.size)].allow(words)
			i += int(x.size)
			continue
		case x.token >= 0:
			words[x.token/32] |= 1 << (x.token % 32)
		}
		states = append(states[:x.depth+1], next)
		i++
	}
}

// Accept appends a token to the text. If the token is not allowed, Accept returns ErrToken, and the text does not change.
func (m *Matcher) Accept(id int32) error {
	m.grammar.mutex.Lock()
	defer m.grammar.mutex.Unlock()
	v := m.vocabulary
	if !m.ended && m.state.End() && slices.Contains(v.ends, id) {
		m.ended = true
		return nil
	}
	if m.ended || id < 0 || int(id) >= len(v.bytes) || v.bytes[id] == "" || len(v.bytes[id]) > maxToken {
		return fmt.Errorf("%w: %d", ErrToken, id)
	}
	m.grammar.machine.Allow(maxWork)
	next := m.grammar.machine.Text(m.state, v.bytes[id])
	if next == nil {
		return fmt.Errorf("%w: %d (%q)", ErrToken, id, v.bytes[id])
	}
	m.state = next
	return nil
}

// renew forgets the states of the matcher's past after the machine has.
func (m *Matcher) renew() {
	if n := m.grammar.machine.Forgot(); n != m.forgot {
		m.state, m.forgot = m.grammar.machine.Renew(m.state), n
	}
}

// Match reports whether a whole text is in the grammar.
func (g *Grammar) Match(text string) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.machine.Allow(maxWork + uint64(len(text))<<8)
	k := g.machine.Text(g.machine.First(), text)
	return k != nil && k.End()
}
