package load_test

import (
	"go/token"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile/internal/load"
)

func TestPositionsOfTheGoCommand(t *testing.T) {
	tests := map[string]token.Position{
		"k/a.go:3:7": {Filename: "/m/k/a.go", Line: 3, Column: 7},
		"k/a.go:3":   {Filename: "/m/k/a.go", Line: 3},
		"k/a.go":     {Filename: "/m/k/a.go"},
		"":           {},
	}
	for text, want := range tests {
		got := (&load.Error{Pos: text}).Position("/m")
		got.Filename = filepath.ToSlash(got.Filename)
		if got != want {
			t.Errorf("%q: got %#v, want %#v", text, got, want)
		}
	}
}
