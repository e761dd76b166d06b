package gguf_test

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"testing"
)

// python is a Python interpreter with the packages gguf and numpy.
type python string

// needPython returns the interpreter that the environment variable GOPHERWARP_PYTHON names, or else python3, and skips the test if that has
// no package gguf.
func needPython(t *testing.T) python {
	t.Helper()
	name := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), name, "-c", "import gguf, numpy").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import gguf, which pip installs; GOPHERWARP_PYTHON names another Python: %v\n%s", name, err, out)
	}
	return python(name)
}

// run runs testdata/judge.py with the given input and returns what it prints.
func (p python) run(t *testing.T, input []byte, args ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), string(p), append([]string{"testdata/judge.py"}, args...)...)
	c.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", p, args, err, &stderr)
	}
	return out
}
