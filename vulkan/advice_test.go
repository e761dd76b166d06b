package vulkan

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// fake returns a machine with device files, of which the user may not open some.
func fake(system string, files []string, closed ...string) machine {
	return machine{
		system, func(string) ([]string, error) { return files, nil },
		func(name string) (*os.File, error) {
			if slices.Contains(closed, name) {
				return nil, os.ErrPermission
			}
			return nil, errors.New("busy")
		},
	}
}

// TestAdvice tests what is said on each machine.
func TestAdvice(t *testing.T) {
	first, second := "/dev/dri/renderD128", "/dev/dri/renderD129"
	both := []string{first, second}
	for _, c := range []struct {
		name           string
		machine        machine
		loader, driver string // parts
	}{
		{"Linux without a driver", fake("linux", both), "libvulkan1", "mesa-vulkan-drivers"},
		{"Linux, another group", fake("linux", both, first, second), "libvulkan1", "; also, the user may not open /dev/dri/renderD128, /dev/dri/renderD129: run sudo usermod -aG render"},
		{"Linux, one of two GPUs", fake("linux", both, first), "libvulkan1", "mesa-vulkan-drivers"},
		{"a container", fake("linux", nil), "libvulkan1", "mesa-vulkan-drivers"},
		{"a container", fake("linux", nil), "libvulkan1", "--device=/dev/dri"},
		{"Windows", fake("windows", nil), "driver of the GPU's maker, which contains it", "driver of the GPU's maker"},
		{"macOS", fake("darwin", nil), "MoltenVK", "MoltenVK"},
	} {
		if got := c.machine.forLoader(); !strings.Contains(got, c.loader) {
			t.Errorf("%s, loader: %q", c.name, got)
		}
		if got := c.machine.forFeatures(); (c.machine.os == "linux") != strings.Contains(got, "mesa-vulkan-drivers") {
			t.Errorf("%s, features: %q", c.name, got)
		}
		if got := c.machine.forDriver(); !strings.Contains(got, c.driver) {
			t.Errorf("%s, driver: %q", c.name, got)
		}
	}
}
