package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cuda"
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
		{devices(vulkan.Description{Type: vulkan.Other, Missing: []string{"addresses"}}), false,
			[]string{"-      Fake (vulkan:1), not a GPU of this machine, cannot be used: it lacks addresses\n"}},
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

// TestConclusion tests what doctor says of machines on which programs run on the CPU, and whether it demands NVIDIA's driver.
func TestConclusion(t *testing.T) {
	gpu := func(name string, index int, t vulkan.Type, missing ...string) vulkan.Description {
		return vulkan.Description{Info: device.Info{Kind: "vulkan", Index: index, Name: name}, Type: t, Missing: missing, Lacks: []string{"float64"}}
	}
	for _, c := range []struct {
		list  []vulkan.Description
		want  string
		other bool // maker
	}{
		{nil, "No GPU can be used on this machine.", false},
		{[]vulkan.Description{gpu("llvmpipe", 0, vulkan.Other)}, "No GPU can be used on this machine.", false},
		{[]vulkan.Description{gpu("Radeon", 0, vulkan.Discrete, "addresses")}, "No GPU can be used on this machine.", true},
		{[]vulkan.Description{gpu("llvmpipe", 0, vulkan.Other), gpu("Vega", 1, vulkan.Integrated)}, "unless GOPHERWARP_DEVICE=vulkan:1 selects the GPU.", true},
		{[]vulkan.Description{gpu("NVIDIA T400", 0, vulkan.Discrete)}, "unless GOPHERWARP_DEVICE=vulkan:0 selects the GPU.", false},
	} {
		r := vulkanReport{list: c.list}
		if got := r.conclusion(); !strings.Contains(got, c.want) || r.otherMaker() != c.other {
			t.Errorf("%+v: another maker %v, %q", c.list, r.otherMaker(), got)
		}
	}
}

// TestFindings tests how doctor marks what is missing of NVIDIA's driver.
func TestFindings(t *testing.T) {
	list := []cuda.Finding{{What: "the library is there", OK: true}, {What: "no module", Means: "It is needed.", Do: "Load it."}}
	for needed, want := range map[bool]string{
		true:  "ok     the library is there\nWRONG  no module\n       It is needed.\n       Load it.\n",
		false: "ok     the library is there\n-      no module\n       It is needed.\n       Load it.\n       Only NVIDIA's GPUs need this driver.\n",
	} {
		var out strings.Builder
		if printFindings(&out, list, needed); out.String() != want {
			t.Errorf("needed %v:\n%s", needed, out.String())
		}
	}
}
