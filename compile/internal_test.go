package compile

import (
	"errors"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

func TestGuardTurnsPanicsIntoInternalErrors(t *testing.T) {
	err := guard("example.com/p.scale", func() error { panic("BUG: ir: no such block") })
	e, ok := errors.AsType[*InternalError](err)
	if !ok {
		t.Fatalf("got %v, want an *InternalError", err)
	}
	for _, want := range []string{"in kernel example.com/p.scale: BUG: ir: no such block", "Please report", "internal_test.go"} {
		if !strings.Contains(e.Error(), want) {
			t.Errorf("the text lacks %q:\n%s", want, e)
		}
	}
	if err := guard("", func() error { return nil }); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

func TestPositionsOfTheGoCommand(t *testing.T) {
	b := &build{options: Options{Dir: "/m"}}
	tests := map[string]token.Position{
		"k/a.go:3:7": {Filename: "/m/k/a.go", Line: 3, Column: 7},
		"k/a.go:3":   {Filename: "/m/k/a.go", Line: 3},
		"k/a.go":     {Filename: "/m/k/a.go"},
		"":           {},
	}
	for text, want := range tests {
		got := b.position(text)
		got.Filename = filepath.ToSlash(got.Filename)
		if got != want {
			t.Errorf("%q: got %#v, want %#v", text, got, want)
		}
	}
}
