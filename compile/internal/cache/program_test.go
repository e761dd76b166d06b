package cache

import (
	"crypto/sha256"
	"io"
	"strings"
	"testing"
)

func TestIdentity(t *testing.T) {
	parts := strings.Repeat("-a_B9", 4)
	id := strings.Join([]string{parts, parts, parts, parts}, "/")
	long := strings.Repeat("x", 40<<10)
	identify := func(text string) [sha256.Size]byte {
		sum, err := identity(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"\x7fELF\x00Go\x00\x00" + id + "\x00x", "\x7fELF\x00Go\x00\x00" + id + "\x00y", true},
		{"MZ\xff Go build ID: \"" + id + "\"\n \xffx" + long, "MZ\xff Go build ID: \"" + id + "\"\n \xffy" + long, true},
		{"Go\x00\x00" + id, "Go\x00\x00" + id[:len(id)-1] + "b", false},
		{"Go\x00\x00our-own-id\x00x", "Go\x00\x00our-own-id\x00y", false},
		{long + "Go\x00\x00" + id + "x", long + "Go\x00\x00" + id + "y", false},
		{"Go\x00\x00" + strings.ReplaceAll(id, "/", "+") + "x", "Go\x00\x00" + strings.ReplaceAll(id, "/", "+") + "y", false},
		{"x", "x", true},
	} {
		if got := identify(c.a) == identify(c.b); got != c.same {
			t.Errorf("%.60q and %.60q are the same: %v, want %v", c.a, c.b, got, c.same)
		}
	}
	// This program has one: nobody waits for all of it to be read.
	f, err := openProgram()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 32<<10)
	if _, err := io.ReadFull(f, head); err != nil || buildID(head) == nil {
		t.Errorf("no build ID in this program (%v)", err)
	}
}
