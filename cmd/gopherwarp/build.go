package main

import (
	"context"

	"github.com/gopherwarp/gopherwarp/cmd/internal/build"
)

// buildCommand is the command line of cmd/kernelgen. It parses its arguments itself.
type buildCommand struct {
	Args []string `arg:"" optional:"" passthrough:""`
}

// Run runs the command.
func (c *buildCommand) Run(ctx context.Context, t terminal) error {
	if code := build.Main(ctx, "gopherwarp build", c.Args, build.Streams{Out: t.out, Err: t.err}); code != build.ExitOK {
		return exit{code: code}
	}
	return nil
}
