package vulkan_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/vulkan"
)

// there skips the test if there is no device.
func there(t *testing.T) {
	t.Helper()
	if _, err := vulkan.List(); err != nil {
		t.Skip(err)
	}
}

func TestBackend(t *testing.T) {
	there(t)
	devicetest.TestBackend(t, func() (*device.Device, error) { return vulkan.Open(0) })
}

func TestNoSuchDevice(t *testing.T) {
	there(t)
	for _, index := range []int{-1, 99} {
		if _, err := vulkan.Open(index); !errors.Is(err, vulkan.ErrNoDevice) {
			t.Errorf("Open(%d): %v", index, err)
		}
	}
}

// TestNoDriver lists the devices in a process whose loader finds no driver.
func TestNoDriver(t *testing.T) {
	if !withDriver(t, "/nowhere") {
		return
	}
	_, err := vulkan.List()
	if !errors.Is(err, vulkan.ErrNoDevice) || !strings.Contains(err.Error(), "finds no driver") {
		t.Errorf("without a driver: %v", err)
	}
}

// radeon describes Mesa's driver for AMD's GPUs, which is installed together with llvmpipe.
const radeon = "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json"

// TestNoGPU lists the devices in a process whose only driver is for a GPU that the machine does not have.
func TestNoGPU(t *testing.T) {
	if _, err := os.Stat(radeon); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat("/dev/dri"); err == nil {
		t.Skip("the machine has a GPU")
	}
	if !withDriver(t, radeon) {
		return
	}
	_, err := vulkan.List()
	if !errors.Is(err, vulkan.ErrNoDevice) || !strings.Contains(err.Error(), "finds no driver with a device") || !strings.Contains(err.Error(), "--device=/dev/dri") {
		t.Errorf("without a GPU: %v", err)
	}
}

// swiftShader describes the driver in Debian's package chromium. It has no 64-bit integers.
const swiftShader = "/usr/lib/chromium/vk_swiftshader_icd.json"

// TestFeatures opens a device whose driver lacks a feature that all kernels need.
func TestFeatures(t *testing.T) {
	if _, err := os.Stat(swiftShader); err != nil {
		t.Skip(err)
	}
	if !withDriver(t, swiftShader) {
		return
	}
	const lacks = "64-bit integers (shaderInt64)"
	list, err := vulkan.List()
	if err != nil || len(list) != 1 || !slices.Contains(list[0].Missing, lacks) || list[0].Complete() {
		t.Errorf("listed %+v, %v", list, err)
	}
	_, err = vulkan.Open(0)
	if !errors.Is(err, vulkan.ErrFeatures) || !strings.Contains(err.Error(), "it has no "+lacks) || !strings.Contains(err.Error(), "a newer driver") {
		t.Errorf("opened: %v", err)
	}
}

// withDriver runs the test again in a process in which Vulkan's loader reads only the given description of a driver. It reports
// whether this is that process.
func withDriver(t *testing.T, description string) bool {
	t.Helper()
	if os.Getenv("VK_DRIVER_FILES") == description {
		return true
	}
	there(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "VK_DRIVER_FILES="+description, "VK_ICD_FILENAMES="+description)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}
