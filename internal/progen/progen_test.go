package progen_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/progen"
)

var (
	seed    = flag.Uint64("seed", 1, "of the random kernels")
	count   = flag.Int("kernels", 200, "how many random kernels to run")
	gcflags = flag.String("gcflags", "-N -l", "for Go's own compiler, which needs most of the time")
	dir     = flag.String("dir", "", "where the program is written; empty for a folder that goes")
	shrink  = flag.Bool("shrink", false, "make the first kernel that differs smaller; takes minutes")
	twins   = flag.Bool("twins", false, "compile the code that the CPU device has for whole blocks, too")
	devices = flag.String("devices", "native,interp", "what to compare; the first is right")
)

// bug names a kernel that is known to differ.
type bug struct {
	seed   uint64
	kernel string
}

// open has the bugs that were found and are not mended yet.
var open = map[bug]string{}

// TestRandomKernels compares native Go with other executions. What differs, or breaks the
// compiler, is printed; with -shrink, the first of it made as small as it gets.
func TestRandomKernels(t *testing.T) {
	var kernels []progen.Kernel
	for i := range *count {
		kernels = append(kernels, progen.New(*seed, i))
	}
	m := newModule(t)
	wrong := m.wrong(t, kernels)
	for i, how := range wrong {
		if why, ok := open[bug{*seed, kernels[i].Name}]; ok && how != "" {
			t.Logf("seed %d: %s is a known bug: %s", *seed, kernels[i].Name, why)
			wrong[i] = ""
		} else if how != "" {
			t.Errorf("seed %d: %s: %s\n%s", *seed, kernels[i].Name, how, kernels[i].Source)
		}
	}
	first := slices.IndexFunc(wrong, func(how string) bool { return how != "" })
	if first < 0 || !*shrink {
		return
	}
	small, err := progen.Shrink(kernels[first], func(tried []progen.Kernel) (failed []bool, err error) {
		for _, how := range m.wrong(t, tried) {
			failed = append(failed, how != "")
		}
		return failed, nil
	})
	t.Logf("smaller (%v):\n%d blocks of %d threads\n%s", err, small.Blocks, small.Threads, small.Source)
}

// wrong says for each kernel how it differs or what the compiler has against it, or "". Where
// a build fails it tries the halves.
func (m module) wrong(t *testing.T, kernels []progen.Kernel) []string {
	wrong := make([]string, len(kernels))
	if len(kernels) == 0 {
		return wrong
	}
	differs, summary, err := m.compare(t, kernels, *devices)
	switch {
	case err != nil && len(kernels) == 1:
		return []string{err.Error()}
	case err != nil:
		half := len(kernels) / 2
		return append(m.wrong(t, kernels[:half]), m.wrong(t, kernels[half:])...)
	}
	t.Log(summary)
	for i, k := range kernels {
		wrong[i] = differs[k.Name]
	}
	return wrong
}
