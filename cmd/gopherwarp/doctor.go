package main

import (
	"context"
	"fmt"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/vulkan"
)

type doctorCommand struct{}

// Help is the text after the flags.
func (doctorCommand) Help() string {
	return `Checks everything that a program needs to use a GPU, and explains the cause and the remedy of each problem. The exit
code is 0 if a GPU can be used, and 3 otherwise.

Example:
  gopherwarp doctor || echo "kernels will run on the CPU"`
}

// Run runs the command.
func (c *doctorCommand) Run(_ context.Context, t terminal) error {
	t.out = console.Lines(t.out, len("WRONG  "))
	report := cuda.Diagnose()
	for _, f := range report.Findings {
		mark := "ok   "
		if !f.OK {
			mark = "WRONG"
		}
		fmt.Fprintf(t.out, "%s  %s\n", mark, f.What)
		for _, more := range [...]string{f.Means, f.Do} {
			if more != "" {
				fmt.Fprintf(t.out, "       %s\n", more)
			}
		}
	}
	for _, info := range report.Devices {
		printDevice(t, info)
	}
	var v vulkanReport
	v.list, v.err = vulkan.List()
	if !report.Usable() {
		v.hidden = vulkan.WhyNoGPU()
	}
	v.print(t.out)
	here().print(t.out)
	printLibraries(t)
	if !report.Usable() && !v.usable() {
		fmt.Fprintln(t.out, "No GPU can be used on this machine. Programs run their kernels on the CPU.")
		return exit{code: exitNoGPU}
	}
	return nil
}
