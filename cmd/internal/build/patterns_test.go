package build

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPatterns names files from a folder in a module.
func TestPatterns(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"main.go", "x_test.go", "a/b/k.go", "a/notes.txt", "d.go/k.go"} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(root, "a"))
	for pattern, want := range map[string]string{
		"b/k.go":                              "./b",
		"./b/k.go":                            "./b",
		"../main.go":                          "..",
		"../d.go/k.go":                        "../d.go",
		filepath.Join(root, "a", "b", "k.go"): filepath.Join(root, "a", "b"),
		"../d.go":                             "../d.go",
		"b/none.go":                           "b/none.go",
		"notes.txt":                           "notes.txt",
		"./b/":                                "./b/",
		"./...":                               "./...",
	} {
		got := Patterns([]string{filepath.FromSlash(pattern)})
		if !slices.Equal(got, []string{filepath.FromSlash(want)}) {
			t.Errorf("%s is %q, want %s", pattern, got, want)
		}
	}
	got := Patterns([]string{"../main.go", "../x_test.go", "./b"})
	if !slices.Equal(got, []string{"..", filepath.FromSlash("./b")}) {
		t.Errorf("two files of a folder and another folder are %q", got)
	}
	if !SamePackage("../main.go", "../x_test.go") || SamePackage("../main.go", "b/k.go") || SamePackage("../main.go", "../none.go") {
		t.Error("SamePackage is wrong about files")
	}
}
