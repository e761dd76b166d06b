package pretokenize_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pretokenize"
)

// TestSplit checks the pieces of pre-tokenizers.
func TestSplit(t *testing.T) {
	for _, c := range []struct{ raw, text, want string }{
		{`{"type": "WhitespaceSplit"}`, " a\u3000b  c", "a|b|c"},
		{`{"type": "Whitespace"}`, "a_1 b-c.. d", "a_1|b|-|c|..|d"},
		{`{"type": "BertPreTokenizer"}`, " a.b$ ¿c", "a|.|b|$|¿|c"},
		{`{"type": "Punctuation"}`, "a..b", "a|.|.|b"},
		{`{"type": "Punctuation", "behavior": "Contiguous"}`, "a..b", "a|..|b"},
		{`{"type": "Digits", "individual_digits": true}`, "a12b", "a|1|2|b"},
		{`{"type": "Digits"}`, "a12b", "a|12|b"},
		{`{"type": "FixedLength", "length": 2}`, "aébcd", "aé|bc|d"},
		{`{"type": "CharDelimiterSplit", "delimiter": "-"}`, "-a--b", "a|b"},
		{`{"type": "Split", "pattern": {"String": "-"}, "behavior": "Removed"}`, "a--b-", "a|b"},
		{`{"type": "Split", "pattern": {"String": "-"}, "behavior": "Isolated"}`, "a--b-", "a|-|-|b|-"},
		{`{"type": "Split", "pattern": {"String": "-"}, "behavior": "MergedWithPrevious"}`, "a--b-", "a-|-|b-"},
		{`{"type": "Split", "pattern": {"String": "-"}, "behavior": "MergedWithNext"}`, "a--b-", "a|-|-b|-"},
		{`{"type": "Split", "pattern": {"String": "-"}, "behavior": "Contiguous"}`, "a--b-", "a|--|b|-"},
		{`{"type": "Split", "pattern": {"Regex": "[a-z]+"}, "behavior": "Removed", "invert": true}`, "a--b-", "a|b"},
		{`{"type": "Split", "pattern": {"Regex": "(?=[A-Z])"}, "behavior": "Isolated"}`, "aBcDE", "a|Bc|D|E"},
		{`{"type": "Metaspace", "replacement": "▁"}`, "a b  c", "▁a|▁b|▁|▁c"},
		{`{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}`, "a b", "a|▁b"},
		{`{"type": "Metaspace", "replacement": "▁", "split": false}`, "a b", "▁a▁b"},
		{`{"type": "ByteLevel"}`, "a é", "Ġa|ĠÃ©"},
		{`{"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}`, "a b", "aĠb"},
		{`{"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Digits", "individual_digits": true}]}`, "a1 2b", "a|1|2|b"},
	} {
		p, err := pretokenize.Parse([]byte(c.raw))
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		if got := pieces(p, c.text, 0); got != c.want {
			t.Errorf("%s of %q is %s, want %s", c.raw, c.text, got, c.want)
		}
		for n := 1; n <= strings.Count(c.want, "|"); n++ {
			want := strings.Join(strings.Split(c.want, "|")[:n], "|")
			if got := pieces(p, c.text, n); got != want {
				t.Errorf("the first %d pieces of %s of %q are %s, want %s", n, c.raw, c.text, got, want)
			}
		}
	}
	for _, raw := range []string{`{"type": "Gopher"}`, `5`, `{"type": "FixedLength", "length": 0}`, `{"type": "CharDelimiterSplit", "delimiter": ""}`} {
		if _, err := pretokenize.Parse([]byte(raw)); !errors.Is(err, pretokenize.ErrUnknown) && !errors.Is(err, pretokenize.ErrFormat) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// pieces returns the first n pieces of a text that are not empty, all if n is 0.
func pieces(p pretokenize.PreTokenizer, text string, n int) string {
	var list []string
	for piece := range p.Split(aligned.New(text, true)) {
		if piece.S != "" {
			list = append(list, piece.S)
		}
		if n > 0 && len(list) == n {
			break
		}
	}
	return strings.Join(list, "|")
}

// TestRaw checks which pre-tokenizers leave bytes to the model.
func TestRaw(t *testing.T) {
	digits := pretokenize.Digits{Individual: true}
	for _, c := range []struct {
		p    pretokenize.PreTokenizer
		want string
	}{
		{pretokenize.ByteLevel{UseRegex: true}, "a| 12|é| b"},
		{pretokenize.Sequence{pretokenize.Bert{}, pretokenize.ByteLevel{}}, "a|12é|b"},
		{pretokenize.Sequence{digits, pretokenize.ByteLevel{UseRegex: true}}, "a| |1|2|é| b"},
	} {
		p, ok := pretokenize.Raw(c.p)
		if got := pieces(p, "a 12é b", 0); !ok || got != c.want {
			t.Errorf("%T: %v, %s, want %s", c.p, ok, got, c.want)
		}
	}
	for _, p := range []pretokenize.PreTokenizer{pretokenize.Bert{}, nil, pretokenize.Sequence{}, pretokenize.Sequence{pretokenize.ByteLevel{}, pretokenize.Bert{}}} {
		if _, ok := pretokenize.Raw(p); ok {
			t.Errorf("%T leaves bytes to the model", p)
		}
	}
}
