package resnettest

import (
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// Write writes a model with random weights to a file in a temporary folder of the test, and returns the file's name.
func Write(t testing.TB, c resnet.Config, seed uint64) string {
	t.Helper()
	f, err := Random(c, seed)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "resnet.safetensors")
	if err := safetensors.Save(name, f); err != nil {
		t.Fatal(err)
	}
	return name
}
