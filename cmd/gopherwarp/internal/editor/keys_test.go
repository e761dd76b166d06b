package editor

import (
	"fmt"
	"strings"
	"testing"
)

// TestKeys has what the Terminal reads of what the user types and pastes, in pieces of several sizes. A command is in angle brackets. Bars
// separate texts that the Terminal reads one by one.
func TestKeys(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"abc", "abc"},
		{"a\rb\r\nc\nd", "a\r|b\r|c\n|d"},
		{"é\x1b[D\x1b[3~", "é\x1b[D\x1b[3~"},
		{"a\x03b\x1ac\x04\x04", "a\x05|<3>b|<26>c\x04|\x04|"},
		{"say \x1b[200~one\r\n\ttwo\n\x1b[201~!\r", "say \x1b[200~one↵⇥two↵\x1b[201~!\r|"},
		{"\x1b[200~a\x03\x1b[31mb\x7f\x1a世\x1b[20\x1b[201~\x1b\x1b[A", "\x1b[200~a[31mb世[20\x1b[201~\x1b\x1b[A"},
		{"\x1b[201~\x1b[200~\x1b[200~", "\x1b[201~\x1b[200~[200~"},
	} {
		for _, size := range []int{1, 2, 5, 100} {
			var k keys
			for in := []byte(c.in); len(in) > 0; {
				n := min(size, len(in))
				k.add(in[:n])
				in = in[n:]
			}
			k.flush()
			got := strings.TrimSuffix(taken(&k, size), "|")
			if want := strings.TrimSuffix(c.want, "|"); got != want {
				t.Errorf("%q in pieces of %d:\ngot  %q\nwant %q", c.in, size, got, want)
			}
		}
	}
}

// taken returns everything that next returns, at most n bytes at a time.
func taken(k *keys, n int) string {
	var b strings.Builder
	for {
		text, command := k.next(n)
		switch {
		case command != 0:
			fmt.Fprintf(&b, "|<%d>", command)
		case len(text) == 0:
			return strings.ReplaceAll(b.String(), "||", "|")
		default:
			b.Write(text)
			if strings.ContainsAny(string(text[len(text)-1:]), "\r\n\x04") {
				b.WriteByte('|')
			}
		}
	}
}

func TestHistory(t *testing.T) {
	var h history
	for i := range mostLines + 1 {
		h.Add(fmt.Sprint("line ", i))
		h.Add("")
		h.Add(fmt.Sprint("line ", i))
	}
	if h.Len() != mostLines || h.At(0) != fmt.Sprint("line ", mostLines) || h.At(mostLines-1) != "line 1" {
		t.Errorf("%d lines from %q to %q", h.Len(), h.At(h.Len()-1), h.At(0))
	}
}
