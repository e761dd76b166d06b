package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/vulkan"
)

// printMoreVulkan writes a line for each device of Vulkan that programs use only if a user names it.
func printMoreVulkan(t terminal) {
	list, err := vulkan.List()
	if err != nil {
		return // gopherwarp doctor reports why
	}
	for i := range list {
		if d := &list[i]; !d.Complete() && d.Missing == nil {
			printDevice(t, d.Info)
			fmt.Fprintf(t.out, "    only with GOPHERWARP_DEVICE=vulkan:%d: %s\n", d.Index, whyNot(d))
		}
	}
}

// whyNot says why programs do not choose a device of Vulkan, in a clause.
func whyNot(d *vulkan.Description) string {
	if d.Type == vulkan.Other {
		return "it is " + d.Type.String()
	}
	return "it lacks " + strings.Join(d.Lacks, ", ")
}

// vulkanReport is what doctor reports about Vulkan.
type vulkanReport struct {
	list   []vulkan.Description
	err    error
	hidden string // why there may be a GPU that is not listed
}

// usable reports whether programs can choose a device of Vulkan.
func (r vulkanReport) usable() bool {
	for i := range r.list {
		if r.list[i].Complete() {
			return true
		}
	}
	return false
}

// otherMaker reports whether there is a GPU of another maker than NVIDIA, whether or not it can be used.
func (r vulkanReport) otherMaker() bool {
	return slices.ContainsFunc(r.list, func(d vulkan.Description) bool {
		return d.Type != vulkan.Other && !strings.Contains(d.Name, "NVIDIA")
	})
}

// conclusion says where programs run their kernels if no device is usable.
func (r vulkanReport) conclusion() string {
	for i := range r.list {
		if d := &r.list[i]; d.Type != vulkan.Other && d.Missing == nil {
			return fmt.Sprintf("Programs run their kernels on the CPU, unless GOPHERWARP_DEVICE=vulkan:%d selects the GPU.", d.Index)
		}
	}
	return "No GPU can be used on this machine. Programs run their kernels on the CPU."
}

// print describes the devices of Vulkan, or says what to install. Without Vulkan nothing is wrong: NVIDIA's GPUs do not need it.
func (r vulkanReport) print(w io.Writer) {
	switch {
	case errors.Is(r.err, vulkan.ErrNoLoader), errors.Is(r.err, vulkan.ErrNoDevice):
		fmt.Fprintf(w, "-      %s\n       NVIDIA's GPUs do not need Vulkan.\n", strings.TrimPrefix(r.err.Error(), "vulkan: "))
	case r.err != nil:
		fmt.Fprintf(w, "WRONG  Vulkan does not work: %s\n", strings.TrimPrefix(r.err.Error(), "vulkan: "))
	}
	for i := range r.list {
		printVulkan(w, &r.list[i])
	}
	if r.err == nil && r.hidden != "" && !slices.ContainsFunc(r.list, func(d vulkan.Description) bool { return d.Type != vulkan.Other }) {
		fmt.Fprintf(w, "       Vulkan finds no GPU: %s\n", r.hidden)
	}
}

// printVulkan describes a device of Vulkan.
func printVulkan(w io.Writer, d *vulkan.Description) {
	if d.Missing != nil && d.Type == vulkan.Other { // such as SwiftShader, which comes with browsers
		fmt.Fprintf(w, "-      %s, %v, cannot be used: it lacks %s\n", d.Info, d.Type, strings.Join(d.Missing, ", "))
		return
	}
	if d.Missing != nil {
		fmt.Fprintf(w, "WRONG  %s cannot be used: it lacks %s\n", d.Info, strings.Join(d.Missing, ", "))
		fmt.Fprintln(w, "       All kernels need these features. A newer driver of the GPU may have them.")
		return
	}
	mark := "-    "
	if d.Complete() {
		mark = "ok   "
	}
	fmt.Fprintf(w, "%s  %s, %v, driver %s\n", mark, d.Info, d.Type, d.Driver)
	if d.Subgroup > 0 {
		fmt.Fprintf(w, "       A subgroup has %d threads.\n", d.Subgroup)
	}
	for _, lack := range d.Lacks {
		fmt.Fprintf(w, "       It lacks %s.\n", lack)
	}
	if !d.Complete() {
		fmt.Fprintf(w, "       Programs use it only with GOPHERWARP_DEVICE=vulkan:%d, because %s.\n", d.Index, whyNot(d))
	}
}
