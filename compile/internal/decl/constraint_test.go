package decl

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestConstraintOf(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"k.go", "package k", ""},
		{"linux.go", "package k", ""},
		{"k_gpu.go", "package k", ""},
		{"k_linux.go", "package k", "linux"},
		{"k_arm64.go", "package k", "arm64"},
		{"k_linux_arm64.go", "package k", "linux && arm64"},
		{"k_arm64_linux.go", "package k", "linux"},
		{"k.go", "// Package k.\n\n//go:build x && !y\n\npackage k", "x && !y"},
		{"k_windows.go", "//go:build x || y\n\npackage k", "(x || y) && windows"},
		{"k.go", "package k\n\n//go:build x\n", ""},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), test.name, test.text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := constraintOf(test.name, f); got != test.want {
			t.Errorf("%s %q: got %q, want %q", test.name, test.text, got, test.want)
		}
	}
}
