package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/cmd/gopherwarp/internal/selftest"
)

type selftestCommand struct {
	Device string `placeholder:"cuda|cuda:N|cpu|interp[:fast,traffic]" help:"What to test. Default: the best device there is."`
}

// Help is the text behind the flags.
func (selftestCommand) Help() string {
	return `Runs kernels on the device and compares what they leave with what plain Go computes, so that you can trust a new GPU,
driver or version. The last line begins with ok, and the exit code is 0, where all agree.

Example:
  gopherwarp selftest -device=cuda`
}

// Run is called by kong.
func (c *selftestCommand) Run(ctx context.Context, t terminal) error {
	if c.Device != "" {
		if err := os.Setenv(gopherwarp.Variable, c.Device); err != nil {
			return err
		}
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "on %v\n", dev.Info())
	checks, failed, start := selftest.Checks(), 0, time.Now()
	for _, check := range checks {
		if err := check.Run(ctx, dev); err != nil {
			failed++
			fmt.Fprintf(t.out, "WRONG  %s: %v\n", check.Name, err)
		} else {
			fmt.Fprintf(t.out, "ok     %s\n", check.Name)
		}
	}
	if err := dev.Close(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed on %v", failed, len(checks), dev.Info())
	}
	fmt.Fprintf(t.out, "ok  %d checks in %v\n", len(checks), time.Since(start).Round(time.Millisecond))
	return nil
}
