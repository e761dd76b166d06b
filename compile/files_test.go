package compile_test

import (
	"errors"
	"io/fs"
	"runtime"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
)

// TestWriteNamesTheFile checks that the error of a folder that takes no files has the name of the wanted file, not that of a
// temporary one.
func TestWriteNamesTheFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/proc, in which nobody can make files, is Linux's")
	}
	err := compile.File{Name: "/proc/zkernels.go", Contents: []byte("x")}.Write()
	if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Path != "/proc/zkernels.go" {
		t.Errorf("got %v, want an error about /proc/zkernels.go", err)
	}
}
