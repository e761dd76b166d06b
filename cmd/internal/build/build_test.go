package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
)

// TestWriteRemoves checks that files which no kernel needs are removed, and their folder of vector code with them, but not under go
// generate, which would fail.
func TestWriteRemoves(t *testing.T) {
	t.Chdir(t.TempDir())
	var files []compile.File
	for _, name := range []string{"zkernels.go", "zvector/zvector.go"} {
		name, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("package p"), 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, compile.File{Name: name})
	}
	result := &compile.Result{Packages: []*compile.Package{{Files: files}}}
	c := command{name: "go tool kernelgen", packages: []string{"."}}
	var out strings.Builder

	t.Setenv(generating, "k.go")
	err := c.write(&out, result)
	if want := "no kernel needs these files any more: zkernels.go zvector/zvector.go\n" +
		"Under go generate, they are not removed. To remove them, run\n\tgo tool kernelgen ."; err == nil || filepath.ToSlash(err.Error()) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if left := result.Stale(); len(left) != len(files) || out.Len() > 0 {
		t.Errorf("of %d files, %d are left; printed:\n%s", len(files), len(left), out.String())
	}

	t.Setenv(generating, "")
	if err := c.write(&out, result); err != nil {
		t.Fatal(err)
	}
	if want := "removed zkernels.go\nremoved zvector/zvector.go\n"; filepath.ToSlash(out.String()) != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestCalled(t *testing.T) {
	for arg0, want := range map[string]string{
		"kernelgen":                               "kernelgen",
		"./bin/kernelgen":                         "./bin/kernelgen",
		"/u/.cache/go-build/ab/abcd-d/kernelgen":  "go tool kernelgen",
		"/tmp/go-build1234567/b001/exe/kernelgen": "go run example.com/cmd/kernelgen",
		"/u/go-builders/go/bin/kernelgen":         "/u/go-builders/go/bin/kernelgen",
	} {
		if got := Called(arg0, "example.com/cmd/kernelgen"); got != want {
			t.Errorf("%s: got %s, want %s", arg0, got, want)
		}
	}
}
