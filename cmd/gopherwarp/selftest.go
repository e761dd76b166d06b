package main

import (
	"context"

	"github.com/gopherwarp/gopherwarp"
)

type selftestCommand struct {
	Device string `placeholder:"cuda|cuda:N|vulkan|vulkan:N|cpu|interp[:fast,traffic]" help:"The device to test. Default: the best available."`
	Output string `name:"output" short:"o" placeholder:"FILE" help:"Write the test program to a file instead of running it, for a machine without Go. The program has the flag -device, too."`
}

// Help is the text before the flags.
func (selftestCommand) Help() string {
	return `Compiles the conformance suite of Gopherwarp, runs it on the device, and compares each result with that of plain Go. Use it
to verify a new GPU, driver or version. If all results agree, the last line begins with ok and the exit code is 0.

Example:
  gopherwarp selftest -device=cuda`
}

// Run runs the command.
func (c *selftestCommand) Run(ctx context.Context, t terminal) error {
	if err := gopherwarp.CheckDevice(c.Device); err != nil {
		return exit{exitUsage, err}
	}
	return own{command: "gopherwarp selftest", pkg: "internal/verify/conformance/run", device: c.Device, output: c.Output}.run(ctx, t)
}
