package regular_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// TestLanguages compares languages with texts.
func TestLanguages(t *testing.T) {
	s := regular.NewStore(1000)
	a, b := s.Literal("a"), s.Literal("b")
	ab := s.Repeat(s.Alt(a, b), 0, regular.Unbounded)
	for _, c := range []struct {
		term    *regular.Term
		in, out string
	}{
		{s.None(), "", "- a"},
		{s.Empty(), "-", "a"},
		{s.Literal("abc"), "abc", "- ab abcd"},
		{s.Range('b', 'd'), "b c d", "- a e bb"},
		{s.Bytes("xz"), "x z", "y"},
		{s.Repeat(a, 2, 3), "aa aaa", "a aaaa"},
		{s.Repeat(s.Alt(a, s.Empty()), 2, 3), "- a aaa", "aaaa"},
		{s.And(ab, s.Repeat(s.Range('a', 'z'), 2, 2)), "aa ab", "a aba ac"},
		{s.And(ab, s.Not(s.Alt(a, s.Literal("bb")))), "- b aa", "a bb c"},
		{s.Not(s.Not(a)), "a", "b -"},
		{s.Multiple(3, 0), "0 12 12.0 300.00", "1 10 3.5"},
		{s.Multiple(25, 2), "0.25 1 10.50 3.7500", "0.3 0.251 1.125"},
	} {
		for i, list := range []string{c.out, c.in} {
			for _, text := range strings.Fields(list) {
				text = strings.ReplaceAll(text, "-", "")
				if got := s.Match(c.term, text); got != (i == 1) {
					t.Errorf("%+v has %q: %v", *c.term, text, got)
				}
			}
		}
	}
	if s.Repeat(a, 3, 2) != s.None() || s.Alt(a, b) != s.Alt(b, a, b) || s.Concat(s.Concat(a, b), a) != s.Concat(a, s.Concat(b, a)) {
		t.Error("equal languages are not identical")
	}
}

// TestAlive checks languages that have no texts, without being that of no text.
func TestAlive(t *testing.T) {
	s := regular.NewStore(1000)
	a, b := s.Literal("a"), s.Literal("b")
	many := s.Repeat(a, 0, regular.Unbounded)
	for i, c := range []struct {
		term *regular.Term
		want bool
	}{
		{s.And(s.Repeat(a, 2, 3), s.Repeat(a, 4, 5)), false},
		{s.And(s.Repeat(a, 2, 4), s.Repeat(a, 4, 5)), true},
		{s.Concat(b, s.And(many, s.Not(many))), false},
		{s.Alt(b, s.And(many, s.Not(many))), true},
		{s.Repeat(s.And(a, s.Not(a)), 1, 2), false},
		{s.And(s.Concat(s.Range('1', '9'), s.Repeat(s.Range('0', '9'), 1, 1)), s.Multiple(97, 0)), true},
		{s.And(s.Range('1', '9'), s.Multiple(97, 0)), false},
		{s.None(), false},
	} {
		if got := s.Alive(c.term); got != c.want {
			t.Errorf("language %d: %v", i, got)
		}
	}
}

// TestForget checks that a store which forgets its terms still finds the same.
func TestForget(t *testing.T) {
	small, large := regular.NewStore(5), regular.NewStore(100000)
	r := rand.New(rand.NewPCG(1, 2))
	term := func(s *regular.Store) *regular.Term {
		digits := s.Repeat(s.Range('0', '9'), 1, 6)
		return s.And(digits, s.Multiple(7, 0), s.Not(s.Concat(digits, s.Literal("5"))))
	}
	x, y := term(small), term(large)
	for range 2000 {
		n := r.IntN(100000)
		text := strconv.Itoa(n)
		want := n%7 == 0 && !(n%10 == 5 && n > 9)
		if small.Match(x, text) != want || large.Match(y, text) != want {
			t.Fatalf("%s: %v and %v, want %v", text, small.Match(x, text), large.Match(y, text), want)
		}
	}
}

// TestClasses checks that bytes of one class have the same derivative.
func TestClasses(t *testing.T) {
	s := regular.NewStore(1000)
	term := s.Alt(s.Literal("abc"), s.Concat(s.Repeat(s.Range('b', 'x'), 0, 3), s.Range('0', '9')), s.Multiple(2, 1))
	c := regular.ClassesOf(term)
	table := c.Table()
	for i := range 256 {
		for j := range i {
			if table[i] == table[j] && s.Derive(term, byte(i)) != s.Derive(term, byte(j)) {
				t.Errorf("%q and %q have one class", rune(i), rune(j))
			}
		}
	}
	if c.Len() > 20 {
		t.Errorf("%d classes", c.Len())
	}
}
