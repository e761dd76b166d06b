package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/gopherwarp/gopherwarp/cmd/gopherwarp/internal/top"
	"github.com/gopherwarp/gopherwarp/cuda/nvml"
)

type topCommand struct {
	Interval time.Duration `default:"1s" help:"The time between two readings."`
	Once     bool          `help:"Print one reading and exit. This is the default if the output is not a terminal."`
}

// Help is the text after the flags.
func (topCommand) Help() string {
	return `Shows all GPUs of this machine and their processes: utilization, active units (on Hopper and later), memory,
power, temperature, clocks, the reasons for reduced clocks, and PCI Express traffic.

Example:
  gopherwarp top
  gopherwarp top -once`
}

// Run runs the command.
func (c *topCommand) Run(ctx context.Context, t terminal) error {
	lib, err := nvml.Open()
	if err != nil {
		return exit{exitNoGPU, err}
	}
	r, err := top.NewReader(lib)
	if err != nil {
		return errors.Join(err, lib.Close())
	}
	if out, ok := t.out.(*os.File); ok && !c.Once && term.IsTerminal(int(out.Fd())) {
		return errors.Join(top.Run(ctx, r.Read, max(c.Interval, 100*time.Millisecond), top.Terminal{In: os.Stdin, Out: out}), lib.Close())
	}
	r.Read() // usage is that between two readings
	time.Sleep(200 * time.Millisecond)
	_, err = fmt.Fprintln(t.out, ansi.Strip(top.View(r.Read(), 100, 0)))
	return errors.Join(err, lib.Close())
}
