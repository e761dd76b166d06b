package normalize

import (
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
)

// TestNormalize checks the text and the spans of normalizers, also for bytes
// that are not valid UTF-8.
func TestNormalize(t *testing.T) {
	for _, c := range []struct{ raw, text, want string }{
		{`{"type": "NFC"}`, "e\u0301x", "é[0 1] x[3 4]"},
		{`{"type": "NFD"}`, "éx", "e[0 2] \u0301[0 2] x[2 3]"},
		{`{"type": "NFKC"}`, "ﬁx", "f[0 3] i[0 3] x[3 4]"},
		{`{"type": "NFKD"}`, "x①", "x[0 1] 1[1 4]"},
		{`{"type": "NFC"}`, "\xffé\xc3", "\xff[0 1] é[1 3] \xc3[3 4]"},
		{`{"type": "NFC"}`, "\xffe\u0301\xc3", "\xff[0 1] é[1 2] \xc3[4 5]"},
		{`{"type": "NFD"}`, "\xffé\xc3", "\xff[0 1] e[1 3] \u0301[1 3] \xc3[3 4]"},
		{`{"type": "NFD"}`, "o\u0302\u0323", "o[0 1] \u0323[1 3] \u0302[3 5]"},
		{`{"type": "Lowercase"}`, "AİΣ", "a[0 1] i[1 3] \u0307[1 3] σ[3 5]"},
		{`{"type": "StripAccents"}`, "\u0301e\u0301x\u0301", "e[2 3] x[5 6]"},
		{`{"type": "Strip", "strip_left": true, "strip_right": true}`, " \u3000a b\n", "a[4 5]  [5 6] b[6 7]"},
		{`{"type": "Prepend", "prepend": "_-"}`, "ab", "_[0 1] -[0 1] a[0 1] b[1 2]"},
		{`{"type": "Prepend", "prepend": "_"}`, "", ""},
		{`{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}`, "a é", "a[0 1] ▁[1 2] é[2 4]"},
		{`{"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""}`, "xaay", "x[0 1] y[3 4]"},
		{`{"type": "Nmt"}`, "\x01a\t\ufeff\xff", "a[1 2]  [2 3]  [3 6]  [6 7]"},
		{`{"type": "ByteLevel"}`, " é\xff", "Ġ[0 1] Ã[1 3] ©[1 3] ÿ[3 4]"},
		{`{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true}`, "\x00Á\u2028漢\xff", "a[1 3]  [3 6]  [6 9] 漢[6 9]  [6 9]"},
		{`{"type": "BertNormalizer", "clean_text": true, "lowercase": true}`, "A\tB", "a[0 1]  [1 2] b[2 3]"},
		{`{"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]}`, "É", "e[0 2]"},
	} {
		n, err := Parse([]byte(c.raw))
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		if got := show(n.Normalize(aligned.New(c.text, true))); got != c.want {
			t.Errorf("%s of %q is %q, want %q", c.raw, c.text, got, c.want)
		}
		if with, without := n.Normalize(aligned.New(c.text, true)).S, n.Normalize(aligned.New(c.text, false)).S; with != without {
			t.Errorf("%s of %q is %q with spans and %q without", c.raw, c.text, with, without)
		}
	}
}

// show writes each character of a text with its span.
func show(t aligned.Text) string {
	s := ""
	for r := range aligned.Runes(t.S) {
		c := string(r)
		if r < 0 {
			c = string([]byte{byte(-1 - r)})
		}
		span := t.Span(0, len(c))
		s += fmt.Sprintf(" %s[%d %d]", c, span.Start, span.End)
		t = t.Slice(len(c), len(t.S))
	}
	if s == "" {
		return ""
	}
	return s[1:]
}
