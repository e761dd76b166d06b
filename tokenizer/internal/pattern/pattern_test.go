package pattern

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
)

// alphabet holds the characters that the expressions distinguish.
var alphabet = []string{
	"a", "Z", "é", "漢", "ʰ", "1", "²", "Ⅷ", "٣", " ", " ", "\t", "\n", "\n", "\r", "\u00a0", "\u3000", "\u2028", "'", "'s", "'T", "'re", "'VE", "'ll", "'lL", "'ſ",
	"’", "!", ".", "_", "😀", "\u0301", "\x00", "\u200d", "\ufffd",
}

// random returns a string of at most n elements of the alphabet.
func random(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// TestMachines compares the state machines with the expressions that they
// stand for.
func TestMachines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, expr := range []string{GPT2, Llama3, Qwen2, Number} {
		re, err := regexp2.Compile(translate(expr))
		if err != nil {
			t.Fatal(err)
		}
		machine, engine := known(expr), &backtracker{re: re}
		for range 20000 {
			s := random(r, 12)
			if strings.Contains(s, "ſ") { // regexp2 folds only ASCII letters
				continue
			}
			got, want := slices.Collect(machine.Find(s)), slices.Collect(engine.Find(s))
			if !slices.Equal(got, want) {
				t.Fatalf("%s\nin %q matches %v, want %v", expr, s, got, want)
			}
		}
	}
}

// TestSmolLM compares the combined machine with its two parts.
func TestSmolLM(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		s := random(r, 12)
		var want []aligned.Span
		last := 0
		cut := func(end int) {
			for m := range (gpt2{}).Find(s[last:end]) {
				want = append(want, aligned.Span{Start: last + m.Start, End: last + m.End})
			}
		}
		for m := range known(Number).Find(s) {
			cut(m.Start)
			want = append(want, m)
			last = m.End
		}
		cut(len(s))
		if got := slices.Collect(SmolLM().Find(s)); !slices.Equal(got, want) {
			t.Fatalf("in %q the matches are %v, want %v", s, got, want)
		}
	}
}

// TestInvalid checks that the machines cover bytes that are not valid UTF-8.
func TestInvalid(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, p := range []Pattern{known(GPT2), known(Llama3), known(Qwen2), SmolLM()} {
		for range 2000 {
			b := []byte(random(r, 8))
			for range r.IntN(4) {
				b = slices.Insert(b, r.IntN(len(b)+1), byte(r.IntN(256)))
			}
			end := 0
			for m := range p.Find(string(b)) {
				if m.Start != end || m.End <= m.Start {
					t.Fatalf("in %q a match is %v after offset %d", b, m, end)
				}
				end = m.End
			}
			if end != len(b) {
				t.Fatalf("the matches in %q end at %d", b, end)
			}
		}
	}
}

// TestParse reads patterns from JSON and finds their matches.
func TestParse(t *testing.T) {
	for _, c := range []struct{ raw, text, want string }{
		{`{"String": "a+"}`, "a+aa+", "a+|a+"},
		{`{"String": ""}`, "abc", ""},
		{`{"Regex": "a+"}`, "aXaaé", "a|aa"},
		{`{"Regex": "\\w+"}`, "aé_1 \u0903x-Ⓐ", "aé_1|\u0903x|Ⓐ"},
		{`{"Regex": "[\\w ]+"}`, "aé_1 \u0903x-Ⓐ", "aé_1 \u0903x|Ⓐ"},
		{`{"Regex": "\\W+"}`, "aé_1 \u0903x-Ⓐ", " |-"},
		{`{"Regex": "\\h+[\\h]"}`, "fgh09", "09"},
		{`{"Regex": "(?=[A-Z])"}`, "aBé", ""},
		{`{"Regex": "é+(?!x)"}`, "ééx", "é"},
	} {
		p, err := Parse([]byte(c.raw))
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		var found []string
		for m := range p.Find(c.text) {
			found = append(found, c.text[m.Start:m.End])
		}
		if got := strings.Join(found, "|"); got != c.want {
			t.Errorf("%s matches %q in %q, want %q", c.raw, got, c.text, c.want)
		}
	}
	for _, raw := range []string{`{}`, `5`, `{"Regex": "("}`, `{"Regex": "a", "String": "a"}`} {
		if _, err := Parse([]byte(raw)); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
