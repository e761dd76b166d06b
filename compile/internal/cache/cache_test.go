package cache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	one   = Key{1}
	other = Key{2}
	files = []File{
		{Name: "zkernels.go", Contents: []byte("package k\n")},
		{Name: filepath.Join("zvector", "a.s"), Contents: bytes.Repeat([]byte("add\n"), 1000)},
		{Name: "zempty.ptx", Contents: []byte{}},
	}
)

// put returns a cache with files under key one.
func put(t *testing.T) *Cache {
	t.Helper()
	c := Open(filepath.Join(t.TempDir(), "new"))
	if err := c.Put(one, files); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRoundTrip(t *testing.T) {
	c := put(t)
	if c.Get(other) != nil {
		t.Error("there is an entry for a key that nothing was put under")
	}
	got, err := c.Get(one).Files(nil)
	if d := cmp.Diff(files, got); err != nil || d != "" {
		t.Errorf("error %v, files (-want +got):\n%s", err, d)
	}
	again := []File{{Name: "zother.ptx", Contents: []byte("x")}}
	if err := c.Put(one, again); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(one).Files(nil); err != nil || !cmp.Equal(got, again) {
		t.Errorf("got %v, %v; want what was put last", got, err)
	}
}

// TestCurrent gives Files what is there already: all of it, and with one file of other contents,
// cut off, or missing.
func TestCurrent(t *testing.T) {
	e := put(t).Get(one)
	for _, wrong := range []int{-1, 0, 1, 2} {
		got, err := e.Files(func(name string) ([]byte, error) {
			for i, f := range files {
				switch {
				case f.Name != name || i == wrong && wrong == 2:
				case i == wrong:
					return f.Contents[1:], nil
				default:
					return f.Contents, nil
				}
			}
			return nil, os.ErrNotExist
		})
		if d := cmp.Diff(files, got); err != nil || d != "" {
			t.Errorf("file %d is wrong: error %v, files (-want +got):\n%s", wrong, err, d)
		}
	}
}

// TestDamage changes each byte of an entry in turn, and cuts it off before each.
func TestDamage(t *testing.T) {
	c := put(t)
	text, err := os.ReadFile(c.path(one))
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		damaged := bytes.Clone(text)
		damaged[i] ^= 0x10
		if _, err := decode(one, damaged); err == nil {
			t.Errorf("byte %d of %d is wrong, and nobody notices", i, len(text))
		}
		if _, err := decode(one, text[:i]); err == nil {
			t.Errorf("an entry of %d bytes is cut off after %d, and nobody notices", len(text), i)
		}
	}
	if err := os.Rename(c.path(one), c.path(other)); err != nil {
		t.Fatal(err)
	}
	if c.Get(other) != nil {
		t.Error("an entry is taken for another key's")
	}
}

// TestNames refuses names that lead elsewhere, though the entry is whole.
func TestNames(t *testing.T) {
	for _, name := range []string{"../k.go", "/tmp/k.go", ""} {
		text, err := encode(one, []File{{Name: name}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(one, text); !errors.Is(err, errDamaged) {
			t.Errorf("name %q: got error %v", name, err)
		}
	}
}

// TestTrim removes what was used least recently, and nothing that is not an entry.
func TestTrim(t *testing.T) {
	c := put(t)
	info, err := os.Stat(c.path(one))
	if err != nil {
		t.Fatal(err)
	}
	c.limit = 2 * info.Size()
	foreign := filepath.Join(c.dir, "letter.txt")
	if err := os.WriteFile(foreign, make([]byte, 10*info.Size()), 0o666); err != nil {
		t.Fatal(err)
	}
	for i, k := range []Key{one, {3}, {4}} {
		if err := c.Put(k, files); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(c.path(k), old, old); err != nil {
			t.Fatal(err)
		}
	}
	c.Get(one) // which makes it the youngest
	if err := c.Trim(); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[Key]bool{one: true, {3}: false, {4}: true} {
		if got := c.Get(k) != nil; got != want {
			t.Errorf("key %d is there: %v, want %v", k[0], got, want)
		}
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
}

// TestNoFolder uses a folder that cannot be made.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c := Open(filepath.Join(file, "folder"))
	if err := c.Put(one, files); err == nil {
		t.Error("Put succeeds below a file")
	}
	if c.Get(one) != nil {
		t.Error("there is an entry below a file")
	}
}
