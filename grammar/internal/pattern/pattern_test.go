package pattern

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// TestECMA compares languages with texts.
func TestECMA(t *testing.T) {
	for _, c := range []struct {
		expression string
		in, out    []string
	}{
		{`^[a-z]+$`, []string{"a", "abc"}, []string{"", "A", "aB", "a "}},
		{`foo`, []string{"foo", "a foo b", "ffoo"}, []string{"", "fo", "f oo"}},
		{`^foo|bar$`, []string{"foo", "foox", "xbar"}, []string{"xfoo", "barx"}},
		{`^(a|bc){2,3}$`, []string{"aa", "bca", "bcbcbc"}, []string{"a", "bc", "aaaa"}},
		{`^\d{3}-\w\s?$`, []string{"123-a", "123-_ "}, []string{"12-a", "123-ä"}},
		{`^(?=.*\d)(?=.*[a-z])(?!.*x).{4,}$`, []string{"abc1", "1aaaa"}, []string{"abcd", "ab1", "ax12"}},
		{`(^|,)x(,|$)`, []string{"x", "a,x,b", ",x"}, []string{"ax", "xa"}},
		{`^[^"\\\n]*$`, []string{"", "é😀"}, []string{`"`, `\`, "\n"}},
		{`^["\\\n\u0001]$`, []string{`"`, `\`, "\n", "\x01"}, []string{"", "a", "\x02"}},
		{`^\u00e9[\u{1F600}-\u{1F64F}]$`, []string{"é😀"}, []string{"e😀", "é"}},
		{`^\ud83d\ude00$`, []string{"😀"}, []string{"😁"}},
		{`^.$`, []string{"a", "é", "\t", "\u2027"}, []string{"", "\n", "\r", "\u2028", "ab"}},
		{`^a{,2}$`, []string{"a{,2}"}, []string{"a", "aa"}},
		{`^[\w-.]+$`, []string{"a-b.c"}, []string{"a b"}},
		{`^[]$`, nil, []string{"", "a"}},
		{`^[^]$`, []string{"\n"}, []string{""}},
		{`^\p{Lu}\P{L}$`, []string{"Ä1"}, []string{"ä1", "Ää"}},
		{`^(?:ab)??c*?$`, []string{"", "abcc"}, []string{"abab"}},
		{`^.{2,2000}$`, []string{"ab", strings.Repeat("é", 2000)}, []string{"a", strings.Repeat("é", 2001)}},
	} {
		a := NewAlphabet(regular.NewStore(10000), JSON)
		term, err := ECMA(a, c.expression)
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		for i, list := range [][]string{c.out, c.in} {
			for _, text := range list {
				if got := a.Match(term, a.Bytes(text)); got != (i == 1) {
					t.Errorf("%s matches %q: %v", c.expression, text, got)
				}
			}
		}
	}
	for _, bad := range []string{`a\b`, `(a)\1`, `(?<=a)b`, `a**`, `(`, `)`, `[`, `[b-a]`, `\`, `\q`, `a{3,2}`, `(?>a)`, `^a^`, `(?=a)*b`, `\ud800`, `\p{No such}`} {
		if term, err := ECMA(NewAlphabet(regular.NewStore(10000), JSON), bad); !errors.Is(err, ErrUnsupported) && !(bad == `^a^` && term.IsNone()) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestGo compares languages with package regexp.
func TestGo(t *testing.T) {
	texts := []string{"", "a", "ab", "abc", "B", "x1", "é", "\n", "a\nb", "12:30", "aaaa"}
	for _, expression := range []string{`a*`, `(?i)ab|b`, `[^a-c]+`, `.`, `(?s).*`, `\d\d:\d{2}`, `a{2,}|\pL`, `^a(b|c)*$`, ``} {
		a := NewAlphabet(regular.NewStore(10000), UTF8)
		term, err := Go(a, expression)
		if err != nil {
			t.Fatal(err)
		}
		re := regexp.MustCompile(`^(?:` + expression + `)$`)
		for _, text := range texts {
			if got, want := a.Match(term, text), re.MatchString(text); got != want {
				t.Errorf("%s matches %q: %v, want %v", expression, text, got, want)
			}
		}
	}
	for _, bad := range []string{`a(`, `a\bc`} {
		if _, err := Go(NewAlphabet(regular.NewStore(10000), UTF8), bad); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestSpelling checks that each character has its spelling as in JSON, and no other.
func TestSpelling(t *testing.T) {
	a := NewAlphabet(regular.NewStore(10000), JSON)
	for r := rune(0); r <= 0x10ffff; r += 1 + r/50 {
		if 0xd800 <= r && r <= 0xdfff {
			continue
		}
		text := a.Bytes(string(r))
		var back string
		if err := json.Unmarshal([]byte(`"`+text+`"`), &back); err != nil || back != string(r) {
			t.Fatalf("%U is spelled %q: %q, %v", r, text, back, err)
		}
		if !a.Match(a.Any, text) || !a.Match(a.between(r, r), text) || a.Match(a.between(r+1, r+1), text) {
			t.Errorf("the languages of %U and %q", r, text)
		}
	}
	for _, bad := range []string{"\xff", "\xc0\x80", "\xed\xa0\x80", "\n", `"`, `\`, `\x`, "\xf4\x90\x80\x80"} {
		if a.Match(a.Any, bad) {
			t.Errorf("%q is a character", bad)
		}
	}
}
