package dl

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/dl/stubdll"
)

// TestStub opens a library with Windows' loader, and calls its functions.
func TestStub(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the stub is for amd64")
	}
	folder, err := os.MkdirTemp("", "stub") // not t.TempDir: Windows does not remove a loaded library
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "stub.dll")
	image := stubdll.Image("stub.dll", map[string]stubdll.Code{"sum": stubdll.Sum(11), "seven": stubdll.Return(7), "zero": stubdll.Return(0), "store": stubdll.Store(13)})
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	lib, err := Open("gopherwarp-missing.dll", path)
	if err != nil {
		t.Fatal(err)
	}
	if lib.Name() != path {
		t.Errorf("opened %s", lib.Name())
	}
	symbol := func(name string) uintptr {
		at, err := lib.Symbol(name)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if got := Call(symbol("sum"), 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024); got != 2047 {
		t.Errorf("the sum is %d, want 2047", got)
	}
	for before, want := range map[string]uintptr{"seven": 7, "zero": 10} {
		if got := CallAfter(Before{Function: symbol(before)}, symbol("sum"), 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0); got != want {
			t.Errorf("after %s: %d, want %d", before, got, want)
		}
	}
	if _, err := lib.Symbol("missing"); !errors.Is(err, ErrSymbol) {
		t.Errorf("a missing function: %v", err)
	}
	if _, err := Open("gopherwarp-missing.dll"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing library: %v", err)
	}
}

// TestCurrentFolder puts a library in the current folder, as anyone could.
func TestCurrentFolder(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the stub is for amd64")
	}
	const name = "gopherwarp-here.dll"
	folder, err := os.MkdirTemp("", "stub") // not t.TempDir: Windows does not remove a loaded library
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), stubdll.Image(name, map[string]stubdll.Code{"seven": stubdll.Return(7)}), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(folder); err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(before) // so that the folder can be removed
	if _, err := Open(name); !errors.Is(err, ErrNotFound) {
		t.Errorf("a library of the current folder was opened: %v", err)
	}
	if _, err := Open(`.\` + name); err != nil {
		t.Errorf("a library named by its path: %v", err)
	}
}
