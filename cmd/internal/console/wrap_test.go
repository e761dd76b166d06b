package console

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestWrap(t *testing.T) {
	tests := []struct {
		text  string
		width int
		want  string
	}{
		{"a line that is broken twice, between words", 20, "a line that is\n    broken twice,\n    between words"},
		{"fits", 20, "fits"},
		{"no width, so nothing is broken here", 0, "no width, so nothing is broken here"},
		{"ok     columns stay where they are in it", 30, "ok     columns stay where they\n    are in it"},
		{"  a-word-that-is-longer-than-a-line is whole\n", 20, "  a-word-that-is-longer-than-a-line\n    is whole\n"},
		{"k.go:1:1: short\n\twith help that is long\n", 20, "k.go:1:1: short\n    with help that\n    is long\n"},
		{"\n\n", 20, "\n\n"},
	}
	for _, test := range tests {
		if got := Wrap(test.text, test.width, 4); got != test.want {
			t.Errorf("Wrap(%q, %d):\ngot  %q\nwant %q", test.text, test.width, got, test.want)
		}
	}
}

func TestPage(t *testing.T) {
	text := "One paragraph in\ntwo lines.\n\nAnother.\n\nExample:\n  command one two three four\n  command\n"
	want := "One paragraph in two\nlines.\n\nAnother.\n\nExample:\n  command one two\n      three four\n  command\n"
	if got := Page(text, 20); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestWidth(t *testing.T) {
	t.Setenv("COLUMNS", "")
	if got := Width(&bytes.Buffer{}); got != 0 {
		t.Errorf("a buffer has width %d, want 0", got)
	}
	if got := PageWidth(&bytes.Buffer{}); got != DefaultWidth {
		t.Errorf("a page in a buffer has width %d, want %d", got, DefaultWidth)
	}
	t.Setenv("COLUMNS", "33")
	if got := Width(&bytes.Buffer{}); got != 33 {
		t.Errorf("with COLUMNS=33 the width is %d", got)
	}
}

// TestProgress checks that the line is clipped to the terminal, rewritten in place, and removed.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{w: &out, width: 11, stop: make(chan struct{}), stopped: make(chan struct{})}
	begin := make(chan time.Time)
	p.Show("compiling %s", "kernels")
	go p.run(begin)
	begin <- time.Time{}
	p.Stop()
	if got := out.String(); !strings.HasPrefix(got, "\rcompiling \x1b[K") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("wrote %q", got)
	}
}

// TestNoProgress checks that nothing is written where nobody looks, or before a second has passed.
func TestNoProgress(t *testing.T) {
	var out bytes.Buffer
	p := StartProgress(&out)
	if p != nil {
		t.Error("a buffer counts as a terminal")
	}
	p.Show("lost")
	p.Stop()
	q := &Progress{w: &out, width: 80, stop: make(chan struct{}), stopped: make(chan struct{})}
	go q.run(nil)
	q.Stop()
	if out.Len() > 0 {
		t.Errorf("wrote %q", &out)
	}
}
