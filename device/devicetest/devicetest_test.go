package devicetest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

func all() []*driver.Kernel {
	return []*driver.Kernel{
		devicetest.Multiply(), devicetest.Sum(), devicetest.Where(),
		devicetest.Poke(), devicetest.PokeSync(), devicetest.Greet(), devicetest.Optional(),
	}
}

// TestEntries compares the PTX with the descriptions of the kernels.
func TestEntries(t *testing.T) {
	for _, k := range all() {
		v, ok := k.Variant(device.Capability{Major: 7}, driver.Fit{})
		entry := fmt.Sprintf(".visible .entry %s(.param .align 8 .b8 %s_params[%d])", k.Name, k.Name, k.ParamBytes)
		if !ok || !strings.Contains(v.PTX.String(), entry) {
			t.Errorf("%s: the PTX lacks %q", k.Name, entry)
		}
		if got := strings.Contains(v.PTX.String(), "bar.sync"); got != k.Barriers {
			t.Errorf("%s: barriers in the PTX: %v, in the kernel: %v", k.Name, got, k.Barriers)
		}
		if shared := fmt.Sprintf(".shared .align 4 .b8 tile[%d]", k.Shared); k.Shared > 0 && !strings.Contains(v.PTX.String(), shared) {
			t.Errorf("%s: the PTX lacks %q", k.Name, shared)
		}
	}
}

// TestSites compares the lines of the sites with the source.
func TestSites(t *testing.T) {
	for _, k := range all() {
		for _, s := range k.Sites {
			text, err := os.ReadFile(s.File)
			if err != nil {
				t.Fatal(err)
			}
			line := strings.Split(string(text), "\n")[s.Line-1]
			if !strings.Contains(line, "gpu.Printf(") && !strings.Contains(line, "x[index] = -1") {
				t.Errorf("%s:%d is %q, which neither prints nor faults", s.File, s.Line, line)
			}
		}
	}
}

func TestAssembles(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not in PATH")
	}
	for _, k := range all() {
		path := filepath.Join(t.TempDir(), k.Name+".ptx")
		if err := os.WriteFile(path, []byte(k.Variants[0].PTX.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, arch := range []string{"sm_75", "sm_90", "sm_120"} {
			if out, err := exec.Command(ptxas, "-arch="+arch, "-o", os.DevNull, path).CombinedOutput(); err != nil {
				t.Errorf("%s for %s: %v\n%s", k.Name, arch, err, out)
			}
		}
	}
}
