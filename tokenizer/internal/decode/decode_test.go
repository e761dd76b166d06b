package decode_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/decode"
)

// TestDecode checks the text of tokens.
func TestDecode(t *testing.T) {
	for _, c := range []struct{ raw, tokens, want string }{
		{`{"type": "ByteLevel"}`, "ĠÃ|©x|a b|Ċ", " éxa b\n"},
		{`{"type": "WordPiece", "prefix": "##"}`, "##a|b|##c|.", "##a bc ."},
		{`{"type": "WordPiece", "prefix": "##", "cleanup": true}`, "do|n't|!|do not", "don't! don't"},
		{`{"type": "BPEDecoder"}`, "a</w>|b|c</w>", "a bc"},
		{`{"type": "BPEDecoder"}`, "", ""},
		{`{"type": "Metaspace", "replacement": "▁"}`, "▁a|▁b▁", "a b "},
		{`{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}`, "▁a|▁b", " a b"},
		{`{"type": "ByteFallback"}`, "a|<0xC3>|<0xA9>|<0xZZ>|<0x1>|<0xff>", "aé<0xZZ><0x1>\xff"},
		{`{"type": "Fuse"}`, "a|b", "ab"},
		{`{"type": "Strip", "content": "_", "start": 1, "stop": 2}`, "__a___|_", "_a_"},
		{`{"type": "Replace", "pattern": {"String": "_"}, "content": "-"}`, "a_|_", "a--"},
		{`{"type": "Replace", "pattern": {"Regex": "_+"}, "content": "-"}`, "a__b|_", "a-b-"},
		{`{"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": "_", "start": 2, "stop": 2}]}`, "_|_|_a|_|b_|_|_", "_a_b_"},
		{`{"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": "_", "start": 3, "stop": 3}]}`, "_|_", ""},
		{`{"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
			{"type": "Strip", "content": " ", "start": 1, "stop": 0}]}`, "▁a|▁▁b|<0x0A>", "a  b\n"},
	} {
		d, err := decode.Parse([]byte(c.raw))
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		if got := text(d, c.tokens); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.raw, c.tokens, got, c.want)
		}
	}
	if got := text(decode.Joined(), "a|b|c"); got != "a b c" {
		t.Errorf("the joined text is %q", got)
	}
	for _, c := range []struct {
		raw  string
		want error
	}{
		{`5`, decode.ErrFormat}, {`{"type": "CTC"}`, decode.ErrUnknown}, {`{"type": "Strip", "content": "ab"}`, decode.ErrFormat}, {`{"type": "Metaspace", "replacement": ""}`, decode.ErrFormat},
		{`{"type": "Sequence", "decoders": [{"type": "ByteLevel"}, {"type": "Metaspace", "replacement": "_"}]}`, decode.ErrUnknown},
	} {
		if _, err := decode.Parse([]byte(c.raw)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.raw, err, c.want)
		}
	}
}

// text decodes tokens.
func text(d *decode.Decoder, tokens string) string {
	var b strings.Builder
	s := d.Start(&b)
	if tokens != "" {
		for _, token := range strings.Split(tokens, "|") {
			s.Write(token)
		}
	}
	s.End()
	return b.String()
}
