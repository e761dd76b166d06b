package vulkan_test

import (
	"errors"
	"os"
	"os/exec"
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
	if os.Getenv("VK_DRIVER_FILES") == "/nowhere" {
		_, err := vulkan.List()
		if !errors.Is(err, vulkan.ErrNoDevice) || !strings.Contains(err.Error(), "finds no driver") {
			t.Errorf("without a driver: %v", err)
		}
		return
	}
	there(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoDriver$")
	cmd.Env = append(os.Environ(), "VK_DRIVER_FILES=/nowhere", "VK_ICD_FILENAMES=/nowhere")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
