package machine

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// brackets returns a machine for pairs of brackets within each other, with digits in the middle.
func brackets(t *testing.T) *Machine {
	t.Helper()
	s := regular.NewStore(1000)
	p := NewProgram(s)
	end := p.Add(State{End: true})
	start, inside, after := p.Add(State{}), p.Add(State{}), p.Add(State{})
	*p.At(start) = State{Lexemes: []Lexeme{{s.Literal("["), inside}, {s.Repeat(s.Range('0', '9'), 1, regular.Unbounded), end}}}
	*p.At(inside) = State{Calls: []Call{{start, after}}}
	*p.At(after) = State{Lexemes: []Lexeme{{s.Literal("]"), end}, {s.Literal(","), inside}}}
	m, err := p.Start(start, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Allow(math.MaxUint64 / 2)
	return m
}

func TestMachine(t *testing.T) {
	m := brackets(t)
	for text, want := range map[string]bool{
		"1": true, "[1]": true, "[[12,[3]],4]": true, strings.Repeat("[", 5000) + "7" + strings.Repeat("]", 5000): true,
		"": false, "[": false, "[]": false, "[1": false, "[1]]": false, "[1],": false, "[,1]": false,
	} {
		k := m.Text(m.First(), text)
		if got := k != nil && k.End(); got != want {
			t.Errorf("%.20q: %v", text, got)
		}
	}
	if m.Forgot() == 0 {
		t.Error("10,000 states were kept")
	}
}

// TestForget follows a text while the machine forgets its states.
func TestForget(t *testing.T) {
	m := brackets(t)
	k := m.First()
	for i, c := range []byte("[[1,[2]],3]") {
		if k = m.Step(m.Renew(k), c); k == nil {
			t.Fatalf("byte %d", i)
		}
		m.Forget()
	}
	if !k.End() || m.First().End() || m.Step(m.First(), ']') != nil {
		t.Error("after the text")
	}
}

// TestBudget checks that a machine without a budget makes no states.
func TestBudget(t *testing.T) {
	m := brackets(t)
	m.Text(m.First(), "[1")
	m.Allow(0)
	if m.Text(m.First(), "[1") == nil || m.Text(m.First(), "[1,") != nil {
		t.Error("without a budget")
	}
	if m.Allow(100); m.Text(m.First(), "[1,") == nil {
		t.Error("with a budget")
	}
}

// TestAmbiguous follows several ways: calls of one state share a stack.
func TestAmbiguous(t *testing.T) {
	s := regular.NewStore(1000)
	p := NewProgram(s)
	end := p.Add(State{End: true})
	item := p.Add(State{Lexemes: []Lexeme{{s.Range('a', 'z'), end}}})
	x, y := p.Add(State{Lexemes: []Lexeme{{s.Literal("1"), end}}}), p.Add(State{Lexemes: []Lexeme{{s.Literal("2"), end}}})
	begin := p.Add(State{Calls: []Call{{item, x}, {item, y}}})
	dead := p.Add(State{})
	start := p.Add(State{Lexemes: []Lexeme{{s.Literal("("), begin}, {s.Literal("!"), dead}}})
	m, err := p.Start(start, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Allow(1000)
	k := m.Text(m.First(), "(")
	if len(k.ways) != 1 || len(k.ways[0].frame.returns) != 2 {
		t.Errorf("%d ways", len(k.ways))
	}
	for text, want := range map[string]bool{"(a1": true, "(b2": true, "(a3": false, "!": false} {
		k := m.Text(m.First(), text)
		if got := k != nil && k.End(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	q := NewProgram(s)
	if _, err := q.Start(q.Add(State{Skips: []int32{0}}), Options{}); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
}
