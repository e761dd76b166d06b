package main

import (
	"context"
	"fmt"
	"io"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/vulkan"
)

type doctorCommand struct{}

// Help is the text after the flags.
func (doctorCommand) Help() string {
	return `Checks everything that a program needs to use a GPU, and explains the cause and the remedy of each problem. The exit
code is 0 if programs use a GPU by default, and 3 otherwise.

Example:
  gopherwarp doctor || echo "kernels will run on the CPU"`
}

// Run runs the command.
func (c *doctorCommand) Run(_ context.Context, t terminal) error {
	t.out = console.Lines(t.out, len("WRONG  "))
	report := cuda.Diagnose()
	var v vulkanReport
	v.list, v.err = vulkan.List()
	if !report.Usable() {
		v.hidden = vulkan.WhyNoGPU()
	}
	printFindings(t.out, report.Findings, report.Usable() || !v.otherMaker())
	for _, info := range report.Devices {
		printDevice(t, info)
	}
	v.print(t.out)
	here().print(t.out)
	printLibraries(t)
	if !report.Usable() && !v.usable() {
		fmt.Fprintln(t.out, v.conclusion())
		return exit{code: exitNoGPU}
	}
	return nil
}

// printFindings writes what was found of NVIDIA's driver. Nothing of it is wrong on a machine that has only GPUs of other makers.
func printFindings(w io.Writer, list []cuda.Finding, needed bool) {
	for _, f := range list {
		mark := "-    "
		switch {
		case f.OK:
			mark = "ok   "
		case needed:
			mark = "WRONG"
		}
		fmt.Fprintf(w, "%s  %s\n", mark, f.What)
		for _, more := range [...]string{f.Means, f.Do} {
			if more != "" {
				fmt.Fprintf(w, "       %s\n", more)
			}
		}
	}
	if !needed {
		fmt.Fprintln(w, "       Only NVIDIA's GPUs need this driver.")
	}
}
