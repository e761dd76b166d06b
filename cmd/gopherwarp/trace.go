package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gopherwarp/gopherwarp"
)

type traceCommand struct {
	Timeline string     `default:"timeline.json" placeholder:"FILE" help:"The file to write the timeline to, for ui.perfetto.dev; - for none. Default: timeline.json."`
	Profile  string     `default:"device.pb.gz" placeholder:"FILE" help:"The file to write the profile to, for go tool pprof; - for none. Default: device.pb.gz."`
	Program  runCommand `embed:""`
}

// Help is the text after the flags.
func (traceCommand) Help() string {
	return `Runs a program as "gopherwarp run" does, and records the work of its device. It writes a timeline and a
profile. The timeline shows streams, kernels, copies, the calls that started them, and the time spent waiting. The
profile shows the device time by Go call stack. The program must open its device with gopherwarp.Open.

Example:
  gopherwarp trace -timeline blur.json ./examples/blur
  go tool pprof -http=: device.pb.gz`
}

// Run runs the command.
func (c *traceCommand) Run(ctx context.Context, t terminal) error {
	for _, f := range []struct {
		variable string
		name     *string
	}{{gopherwarp.VariableTimeline, &c.Timeline}, {gopherwarp.VariableProfile, &c.Profile}} {
		if *f.name == "-" {
			continue
		}
		path, err := filepath.Abs(*f.name)
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return fmt.Errorf("%s cannot be written: %w", *f.name, err)
		}
		c.Program.environment = append(c.Program.environment, f.variable+"="+path)
	}
	err := c.Program.Run(ctx, t)
	for _, name := range []string{c.Timeline, c.Profile} {
		if _, gone := os.Stat(name); gone == nil {
			fmt.Fprintln(t.err, "wrote", name)
		}
	}
	return err
}
