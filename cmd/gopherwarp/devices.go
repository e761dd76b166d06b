package main

import (
	"context"
	"fmt"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/device"
)

type devicesCommand struct{}

// Help is the text after the flags.
func (devicesCommand) Help() string {
	return `Prints a line for each device of this machine that kernels can run on, beginning with the default device.
The exit code is always 0, because the CPU is always available.

Example:
  gopherwarp devices`
}

// Run runs the command.
func (c *devicesCommand) Run(_ context.Context, t terminal) error {
	infos, err := gopherwarp.Devices()
	if err != nil {
		return err
	}
	t.out = console.Lines(t.out, 4)
	for _, info := range infos {
		printDevice(t, info)
	}
	printMoreVulkan(t)
	return nil
}

// printDevice writes a line about a device.
func printDevice(t terminal, i device.Info) {
	line := i.String()
	if i.Bus != "" {
		line += ", bus " + i.Bus
	}
	if i.Driver != "" {
		line += ", driver " + i.Driver
	}
	fmt.Fprintln(t.out, line)
}
