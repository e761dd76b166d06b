package formats_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// cache makes a folder of the cache with files, whose names end with a slash for folders, and returns its path.
func cache(t *testing.T, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "models--org--Some-Model-1B")
	for name, text := range files {
		at := filepath.Join(path, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(at, 0o777); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestResolve(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // the folder, or what the error mentions
		err   error
	}{
		"refs/main":      {map[string]string{"refs/main": "abc", "snapshots/abc/": "", "snapshots/def/": ""}, "snapshots/abc", nil},
		"a newline":      {map[string]string{"refs/main": "abc\n", "snapshots/abc/": ""}, "snapshots/abc", nil},
		"one snapshot":   {map[string]string{"refs/v1": "abc", "snapshots/abc/": ""}, "snapshots/abc", nil},
		"two snapshots":  {map[string]string{"snapshots/abc/": "", "snapshots/def/": ""}, "which has 2 snapshots", weights.ErrNotFound},
		"no snapshot":    {map[string]string{"snapshots/": ""}, "a snapshot in ", weights.ErrNotFound},
		"a lost one":     {map[string]string{"refs/main": "abc", "snapshots/def/": ""}, `the snapshot "abc" in `, weights.ErrNotFound},
		"an empty ref":   {map[string]string{"refs/main": "", "snapshots/abc/": ""}, `the snapshot "" in `, weights.ErrNotFound},
		"a hostile ref":  {map[string]string{"refs/main": "../snapshots/abc", "snapshots/abc/": ""}, `the snapshot "../snapshots/abc" in `, weights.ErrNotFound},
		"no cache":       {map[string]string{"model.safetensors": "x"}, "", nil},
		"a folder there": {map[string]string{"refs/main/x": "abc", "snapshots/abc/": ""}, "is a directory", nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := cache(t, c.files)
			got, err := formats.Resolve(path)
			switch {
			case err == nil && (c.err != nil || got != filepath.Join(path, c.want)):
				t.Errorf("got %s, want %s, %v", got, c.want, c.err)
			case err != nil && (!strings.Contains(err.Error(), c.want) || !errors.Is(err, c.err) && c.err != nil || c.want == ""):
				t.Errorf("got %v, want %s, %v", err, c.want, c.err)
			}
		})
	}
	other := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(other, "snapshots", "abc"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{other, "missing/model.gguf"} {
		if got, err := formats.Resolve(path); got != path || err != nil {
			t.Errorf("%s: got %s, %v", path, got, err)
		}
	}
}

func TestName(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.gguf": "b", "a/b/": "b", "hub/models--org--Some-Model": "org/Some-Model", "models--gpt2": "gpt2", "hub/models--org--M/snapshots/abc": "org/M", "x/snapshots/abc": "abc",
	} {
		if got := formats.Name(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestOpenCache opens a folder of the cache, in which the files of snapshots are links to blobs, and one whose blob is not there.
func TestOpenCache(t *testing.T) {
	path := cache(t, map[string]string{"refs/main": "abc", "snapshots/abc/": "", "blobs/1": "\x02\x00\x00\x00\x00\x00\x00\x00{}"})
	link := filepath.Join(path, "snapshots", "abc", "model.safetensors")
	if err := os.Symlink("../../blobs/1", link); err != nil {
		t.Skip(err)
	}
	f, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(path, "blobs", "1")); err != nil {
		t.Fatal(err)
	}
	if _, err := formats.Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the blob: %v", err)
	}
}
