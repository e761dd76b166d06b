package main

import (
	"context"

	"github.com/gopherwarp/gopherwarp"
)

type selftestCommand struct {
	Device string `placeholder:"cuda|cuda:N|cpu|interp[:fast,traffic]" help:"What to test. Default: the best device there is."`
	Output string `name:"output" short:"o" placeholder:"FILE" help:"Write the program that tests to a file and do not run it: for a machine without Go."`
}

// Help is the text before the flags.
func (selftestCommand) Help() string {
	return `Compiles the project's conformance suite, runs it on the device, and compares each result with what plain Go computes, so
that you can trust a new GPU, driver or version. The last line begins with ok, and the exit code is 0, if all agree.

Example:
  gopherwarp selftest -device=cuda`
}

// Run is called by kong.
func (c *selftestCommand) Run(ctx context.Context, t terminal) error {
	if err := gopherwarp.CheckDevice(c.Device); err != nil {
		return exit{exitUsage, err}
	}
	return own{command: "gopherwarp selftest", pkg: "internal/verify/conformance/run", device: c.Device, output: c.Output}.run(ctx, t)
}
