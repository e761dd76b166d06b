package main

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxtext"
)

func TestWrite(t *testing.T) {
	const plain = "package p\n\nconst sources = `12 f.go f`\n\nconst f = `.version 7.0\n.entry f()\n{\n\tret;\n}\n`\n"
	first, rest, _ := strings.Cut(plain, "`.version")
	packed := first + "`" + ptxtext.Pack(".version"+strings.TrimSuffix(rest, "`\n")) + "`\n"
	for _, text := range []string{plain, packed} {
		var b strings.Builder
		if err := write(&b, text); err != nil || b.String() != plain {
			t.Errorf("%q becomes %q, %v", text, b.String(), err)
		}
	}
	base, second := ptxtext.Pack(".version 7.0\n.entry f()\n"), ".version 8.0\n.entry f()\n"
	var b strings.Builder
	patched := "const f = `" + base + "`\n\nconst g = f + `" + ptxtext.Patch(base, ptxtext.Pack(second)) + "`\n"
	if err := write(&b, patched); err != nil || !strings.HasSuffix(b.String(), "\nconst g = `"+second+"`\n") {
		t.Errorf("%q becomes %q, %v", patched, b.String(), err)
	}
	if err := write(&strings.Builder{}, "const f = `packed1 1 f\n~`"); err == nil {
		t.Error("no error for corrupt PTX")
	}
}
