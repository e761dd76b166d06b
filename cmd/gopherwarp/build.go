package main

import (
	"context"

	"github.com/gopherwarp/gopherwarp/cmd/internal/build"
)

// buildCommand is the command line of cmd/kernelgen. It parses its arguments itself.
type buildCommand struct {
	Args []string `arg:"" optional:"" passthrough:""`
}

// Run is called by kong.
func (c *buildCommand) Run(ctx context.Context, t terminal) error {
	args := c.Args
	if len(args) > 0 && args[0] == "--" { // that dashes inserts
		args = args[1:]
	}
	if code := build.Main(ctx, "gopherwarp build", args, build.Streams{Out: t.out, Err: t.err}); code != build.ExitOK {
		return exit{code: code}
	}
	return nil
}
