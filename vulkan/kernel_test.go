package vulkan

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

// TestCannotLoad tests that a failure of the driver is not taken for a feature that the device lacks.
func TestCannotLoad(t *testing.T) {
	failed := func(r vulkansys.Result) error {
		return &vulkansys.Error{Function: "CreateComputePipelines", Result: r}
	}
	for _, c := range []struct {
		err  error
		is   error // that the result matches, of the two below
		want string
	}{
		{fmt.Errorf("sum.go:3:5: %w: mma", ptxspirv.ErrUnsupported), driver.ErrNoVariant, "vulkan: sum: no variant of the kernel fits the device: sum.go:3:5: not supported: mma"},
		{failed(vulkansys.OutOfDeviceMemory), driver.ErrMemory, ""},
		{failed(-13), nil, "vulkan: sum: compiling the kernel: vkCreateComputePipelines: VK_ERROR_UNKNOWN"},
	} {
		err := cannotLoad("sum", c.err)
		for _, is := range []error{driver.ErrNoVariant, driver.ErrMemory} {
			if errors.Is(err, is) != (is == c.is) {
				t.Errorf("%v: matches %v: %v", err, is, is != c.is)
			}
		}
		if c.want != "" && err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
