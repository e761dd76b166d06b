package main

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxtext"
)

func TestWrite(t *testing.T) {
	const first = ".version 7.0\n.target sm_70\n.visible .entry f()\n{\n\tmov.u32 %r1, %tid.x;\n\tret;\n}\n"
	second := strings.ReplaceAll(first, "7.0", "8.0")
	file := func(f, base, g string) string {
		return "package p\n\nconst sources = `12 f.go f`\n\nvar f = driver.Text{Code: `" + f + "`}\n\nvar g = driver.Text{" + base + "Code: `" + g + "`}\n"
	}
	var library ptxtext.Library
	f, none := library.Add(first)
	g, base := library.Add(second)
	if none >= 0 || base != 0 {
		t.Fatalf("the bases are %d and %d", none, base)
	}
	for _, text := range []string{file(first, "", second), file(f, "Base: &f, ", g)} {
		var b strings.Builder
		if err := write(&b, text); err != nil || b.String() != file(first, "", second) {
			t.Errorf("%s\nbecomes\n%s, %v", text, b.String(), err)
		}
	}
	if err := write(&strings.Builder{}, file("packed2 1 f\n~", "", "")); err == nil {
		t.Error("no error for corrupt PTX")
	}
}
