package harness

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

// TestCompileTwins tests the reasons for which there are no twins.
func TestCompileTwins(t *testing.T) {
	gpu := device.Info{Kind: "cuda", Capability: device.Capability{Major: 9}}
	for _, test := range []struct {
		nvcc string
		info device.Info
		want string
	}{
		{"nvcc", device.Info{Kind: "cpu"}, "the device is no CUDA GPU"},
		{"", gpu, "there is no nvcc"},
		{filepath.Join(t.TempDir(), "nvcc"), gpu, "nvcc: "},
	} {
		_, err := CompileTwins(t.Context(), "", test.nvcc, test.info)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("CompileTwins(%q, %v) returns %v, want %s", test.nvcc, test.info, err, test.want)
		}
	}
}

func TestMeasures(t *testing.T) {
	cases := []Case{{Name: "copy32", Group: "stream"}, {Name: "softmax", Group: "rows"}}
	for only, want := range map[string]bool{"": true, "^rows$": true, "softmax": true, "^stream$": false} {
		if got := (Options{Only: regexp.MustCompile(only)}).Measures(cases, "rows"); got != want {
			t.Errorf("%q measures rows: %v, want %v", only, got, want)
		}
	}
}

// TestRunFails expects a case that cannot be prepared in the report, as failed, and the device's lack of twins as no failure.
func TestRunFails(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	make := func(b *Bench, _ int) Work {
		b.err = errors.New("out of memory")
		return Work{}
	}
	r, err := Run(t.Context(), dev, Suite{Cases: []Case{{Name: "scan", Make: make}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if failed := r.Failed(); len(r.Skipped) != 2 || !slices.Equal(failed, []string{"scan"}) {
		t.Errorf("failed are %q, skipped %v, want scan alone to have failed", failed, r.Skipped)
	}
}
