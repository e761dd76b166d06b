package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/vulkan"
)

// TestVulkanReport tests what doctor reports about each state of Vulkan.
func TestVulkanReport(t *testing.T) {
	info := device.Info{Kind: "vulkan", Index: 1, Name: "Fake", Driver: "fake 1.2 (Vulkan 1.3)"}
	devices := func(d vulkan.Description) vulkanReport {
		d.Info = info
		return vulkanReport{list: []vulkan.Description{d}}
	}
	for _, c := range []struct {
		report vulkanReport
		usable bool
		want   []string // parts of the output
	}{
		{vulkanReport{err: fmt.Errorf("%w; install it", vulkan.ErrNoLoader)}, false, []string{"-      there is no Vulkan loader; install it\n       NVIDIA's GPUs do not need"}},
		{vulkanReport{err: fmt.Errorf("%w: no driver", vulkan.ErrNoDevice)}, false, []string{"-      no such device: no driver\n"}},
		{vulkanReport{err: fmt.Errorf("vulkan: lost")}, false, []string{"WRONG  Vulkan does not work: lost"}},
		{devices(vulkan.Description{Missing: []string{"addresses"}}), false, []string{"WRONG  Fake (vulkan:1) cannot be used: it lacks addresses", "newer driver"}},
		{devices(vulkan.Description{Subgroup: 32}), true, []string{"ok     Fake (vulkan:1), discrete GPU, driver fake 1.2", "has 32 threads"}},
		{devices(vulkan.Description{Lacks: []string{"float64"}}), false,
			[]string{"-      Fake", "It lacks float64.", "only with GOPHERWARP_DEVICE=vulkan:1, because it lacks float64."}},
		{devices(vulkan.Description{Type: vulkan.Other}), false, []string{"-      Fake", "because it is not a GPU of this machine."}},
		{vulkanReport{list: []vulkan.Description{{Info: info, Type: vulkan.Other}}, hidden: "no file"}, false, []string{"       Vulkan finds no GPU: no file\n"}},
	} {
		var out strings.Builder
		c.report.print(&out)
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%+v: %q is not in\n%s", c.report, want, out.String())
			}
		}
		if got := c.report.usable(); got != c.usable {
			t.Errorf("%+v: usable %v", c.report, got)
		}
	}
}
