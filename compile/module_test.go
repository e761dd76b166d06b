package compile_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// module writes a module of a user's own to a temporary directory, with the files of each
// archive in a folder of its name, and returns the directory.
func module(t *testing.T, archives map[string]*txtar.Archive) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/user\n\ngo 1.26.0\n\n"+
		"require github.com/gopherwarp/gopherwarp v0.0.0\n\n"+
		"replace github.com/gopherwarp/gopherwarp => "+filepath.ToSlash(root)+"\n")
	for name, a := range archives {
		for _, f := range a.Files {
			write(t, filepath.Join(dir, name, filepath.FromSlash(f.Name)), string(f.Data))
		}
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// archives reads the txtar files of a folder, by name.
func archives(t *testing.T, folder string) map[string]*txtar.Archive {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no txtar files in %s (%v)", folder, err)
	}
	found := map[string]*txtar.Archive{}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		found[name[:len(name)-len(".txtar")]] = a
	}
	return found
}
