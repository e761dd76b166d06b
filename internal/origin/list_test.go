package origin_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/origin"
)

func TestParse(t *testing.T) {
	list := []origin.Decl{{"kernel.go", "multiply", 0x1234}, {"../a b/c.go", "T.m", 1<<64 - 1}}
	if got := origin.Parse(origin.Format(list)); !slices.Equal(got, list) {
		t.Errorf("got %v, want %v", got, list)
	}
	for _, text := range []string{"", "x", "1\tfile", "x\tfile\tname"} {
		if got := origin.Parse(text); got != nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestChanged(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "k.go"), []byte("package p; func f() {}; func g() {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	sums := origin.Sums([]byte("package p; func f() {}; func g() {}"))
	f, g := origin.Decl{File: "k.go", Name: "f", Sum: sums["f"]}, origin.Decl{File: "k.go", Name: "g", Sum: 1}
	missing := origin.Decl{File: "missing.go", Name: "f", Sum: 1}
	if d, changed := origin.Changed(dir, []origin.Decl{missing, f}, os.ReadFile); changed {
		t.Errorf("%v counts as changed", d)
	}
	if d, changed := origin.Changed(dir, []origin.Decl{f, g}, os.ReadFile); !changed || d != g {
		t.Errorf("got %v, %v, want %v", d, changed, g)
	}
}

// TestBuilt checks that a file counts only if the program may have been built from it.
func TestBuilt(t *testing.T) {
	name := filepath.Join(t.TempDir(), "k.go")
	if err := os.WriteFile(name, []byte("package p"), 0o600); err != nil {
		t.Fatal(err)
	}
	for age, readable := range map[time.Duration]bool{-time.Hour: false, 10000 * time.Hour: true} {
		at := time.Now().Add(-age)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
		if _, err := origin.Built()(name); (err == nil) != readable {
			t.Errorf("a file of age %v: %v", age, err)
		}
	}
}

func BenchmarkChanged(b *testing.B) {
	text, err := os.ReadFile("sums.go")
	if err != nil {
		b.Fatal(err)
	}
	list := []origin.Decl{{File: "sums.go", Name: "Sums", Sum: origin.Sums(text)["Sums"]}}
	for b.Loop() {
		if d, changed := origin.Changed(".", list, origin.Built()); changed {
			b.Fatal(d)
		}
	}
}
