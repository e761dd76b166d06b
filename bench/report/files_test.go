package report

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPresentFailed expects the cases that failed in the error, also of a report that was written and read.
func TestPresentFailed(t *testing.T) {
	r := report()
	r.Skip("peer torch", "it is not there")
	r.Fail("scan", errors.New("element 1 is 0"))
	name := filepath.Join(t.TempDir(), "report.json")
	var out bytes.Buffer
	err := Files{JSON: name}.Present(&out, func() (*Report, error) { return r, nil })
	if err == nil || err.Error() != "bench: failed: scan" {
		t.Errorf("error %v, want scan alone to have failed", err)
	}
	if !strings.Contains(out.String(), "\nskipped scan: element 1 is 0\n") {
		t.Errorf("written:\n%s", out.String())
	}
	read, err := ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r, read); d != "" {
		t.Errorf("read (-want +got):\n%s", d)
	}
	if failed := read.Failed(); !cmp.Equal(failed, []string{"scan"}) {
		t.Errorf("failed are %q, want scan", failed)
	}
}

// TestPresentReadsFirst demands that no report is made if the earlier report cannot be read.
func TestPresentReadsFirst(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.json")
	err := Files{Compare: missing}.Present(&bytes.Buffer{}, func() (*Report, error) {
		t.Error("a report was made")
		return report(), nil
	})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that the file does not exist", err)
	}
}
