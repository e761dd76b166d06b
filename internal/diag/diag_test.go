package diag_test

import (
	"errors"
	"go/token"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/diag"
)

func at(file string, line int) token.Position {
	return token.Position{Filename: file, Line: line, Column: 2}
}

func TestListIsSortedAndHasNothingTwice(t *testing.T) {
	var l diag.List
	l.Add(diag.New(at("b.go", 3), diag.KernelMethod, "kernel %s is a method", "f"))
	l.Add(diag.New(at("a.go", 9), diag.KernelBody, "no body").WithHelp("write one"))
	l.Add(diag.New(at("b.go", 3), diag.KernelMethod, "kernel %s is a method", "f"))
	want := "a.go:9:2: no body (GW0029)\n\twrite one\nb.go:3:2: kernel f is a method (GW0021)"
	if got := l.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEmptyListIsNoError(t *testing.T) {
	if err := (diag.List)(nil).Err(); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	l := diag.List{{Code: diag.GoError, Message: "m"}}
	if got, ok := errors.AsType[diag.List](l.Err()); !ok || len(got) != 1 {
		t.Errorf("got %v, %v; want the list", got, ok)
	}
}

func TestRelativeOnlyWhereShorter(t *testing.T) {
	here := filepath.FromSlash("/src/ada/code")
	near, far := filepath.Join(here, "k", "k.go"), filepath.FromSlash("/x/k.go")
	l := diag.List{{Pos: at(near, 1)}, {Pos: at(far, 1)}}.Relative(here)
	if want := filepath.FromSlash("k/k.go"); l[0].Pos.Filename != want {
		t.Errorf("got %q, want %q", l[0].Pos.Filename, want)
	}
	if l[1].Pos.Filename != far {
		t.Errorf("got %q, want %q", l[1].Pos.Filename, far)
	}
}

func TestCatalogueIsSortedAndSaysSomething(t *testing.T) {
	codes := diag.All()
	if !slices.IsSorted(codes) || len(slices.Compact(slices.Clone(codes))) != len(codes) {
		t.Errorf("codes are not strictly ascending: %v", codes)
	}
	for _, c := range codes {
		if c.Summary() == "" {
			t.Errorf("%v has no summary", c)
		}
	}
	if s := diag.Code(9999).Summary(); s != "" {
		t.Errorf("GW9999 has the summary %q", s)
	}
}
