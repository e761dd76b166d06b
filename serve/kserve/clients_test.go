package kserve_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a script of testdata with a client of Python, or skips the test.
func run(t *testing.T, script, module, address string) {
	t.Helper()
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.Command(python, "-c", "import "+module).CombinedOutput(); err != nil {
		t.Skipf("%s cannot import %s, which pip installs as tritonclient[all]; GOPHERWARP_PYTHON names another Python: %v\n%s", python, module, err, out)
	}
	out, err := exec.Command(python, filepath.Join("testdata", script), address).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	t.Logf("%s", out)
}

// TestTritonHTTP talks to a server with Triton's client.
func TestTritonHTTP(t *testing.T) {
	url, _, _ := serve(t)
	run(t, "triton_http.py", "tritonclient.http", strings.TrimPrefix(url, "http://"))
}
