package console

import (
	"strings"
	"testing"
)

func TestStream(t *testing.T) {
	for _, c := range []struct {
		width int
		text  string
		want  string
	}{
		{0, "a b\nc", "a b\nc\n"},
		{0, "a\n", "a\n"},
		{0, "", ""},
		{10, "one two three", "one two\nthree\n"},
		{10, "one\ntwo  three", "one\ntwo  three\n"},
		{10, "ends.\n", "ends.\n"},
		{10, "abcdefghijklm no", "abcdefghijklm\nno\n"},
		{6, "世界世界 ok", "世界世\n界 ok\n"},
		{4, "a🌍b", "a🌍b\n"},
		{3, "a🌍b", "a🌍\nb\n"},
		{20, "\tx", "    x\n"},
		{8, "trailing   \nnext", "trailing\nnext\n"},
	} {
		for _, size := range []int{1, 3, 100} { // of the pieces, in characters
			var b strings.Builder
			s := &Stream{w: &b, width: c.width}
			for runes := []rune(c.text); len(runes) > 0; {
				n := min(size, len(runes))
				if err := s.Write(string(runes[:n])); err != nil {
					t.Fatal(err)
				}
				runes = runes[n:]
			}
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
			if b.String() != c.want {
				t.Errorf("%q in %d columns, pieces of %d: got %q, want %q", c.text, c.width, size, b.String(), c.want)
			}
		}
	}
}
