package machine

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// ErrEmpty is the error of a program that no text ends.
var ErrEmpty = errors.New("no text is possible")

// Lexeme is a step over a text of a regular language without the empty text.
type Lexeme struct {
	Term *regular.Term
	Next int32 // the state that follows
}

// Call is a step over a text from a state to an end. The state called has neither calls nor the end without a lexeme.
type Call struct {
	Start int32
	Next  int32
}

// State is a place in a program.
type State struct {
	Lexemes []Lexeme
	Calls   []Call
	Skips   []int32 // states whose steps are also possible here
	End     bool
}

// Program is a list of states.
type Program struct {
	store  *regular.Store
	states []State
}

// NewProgram returns an empty program for terms of a store.
func NewProgram(s *regular.Store) *Program { return &Program{store: s} }

// Add appends a state and returns its number.
func (p *Program) Add(s State) int32 {
	p.states = append(p.states, s)
	return int32(len(p.states) - 1)
}

// At returns a state, to add steps to it.
func (p *Program) At(i int32) *State { return &p.states[i] }

// Len returns the number of states.
func (p *Program) Len() int { return len(p.states) }

// prune removes steps from which no end can be reached.
func (p *Program) prune() (alive []bool) {
	alive = make([]bool, len(p.states))
	users := make([][]int32, len(p.states)) // states with a step over or to a state
	list := make([]int32, len(p.states))    // states to look at
	for i := range p.states {
		list[i] = int32(i)
		for _, next := range p.states[i].uses() {
			users[next] = append(users[next], int32(i))
		}
	}
	for len(list) > 0 {
		i := list[len(list)-1]
		list = list[:len(list)-1]
		if !alive[i] && p.ends(&p.states[i], alive) {
			alive[i] = true
			list = append(list, users[i]...)
		}
	}
	for i := range p.states {
		s := &p.states[i]
		s.Lexemes = filter(s.Lexemes, func(l Lexeme) bool { return alive[l.Next] && p.store.Alive(l.Term) })
		s.Calls = filter(s.Calls, func(c Call) bool { return alive[c.Start] && alive[c.Next] })
		s.Skips = filter(s.Skips, func(i int32) bool { return alive[i] })
	}
	return alive
}

// uses returns the states of all steps.
func (s *State) uses() []int32 {
	list := append([]int32(nil), s.Skips...)
	for _, l := range s.Lexemes {
		list = append(list, l.Next)
	}
	for _, c := range s.Calls {
		list = append(list, c.Start, c.Next)
	}
	return list
}

// ends reports whether a step leads to a state that is known to be alive.
func (p *Program) ends(s *State, alive []bool) bool {
	if s.End {
		return true
	}
	for _, l := range s.Lexemes {
		if alive[l.Next] && p.store.Alive(l.Term) {
			return true
		}
	}
	for _, c := range s.Calls {
		if alive[c.Start] && alive[c.Next] {
			return true
		}
	}
	for _, i := range s.Skips {
		if alive[i] {
			return true
		}
	}
	return false
}

func filter[T any](list []T, keep func(T) bool) []T {
	kept := list[:0]
	for _, x := range list {
		if keep(x) {
			kept = append(kept, x)
		}
	}
	return kept
}
