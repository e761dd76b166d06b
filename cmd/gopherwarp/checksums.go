package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/checksum"
)

// sums prints the SHA-256 of each file of a model or, with verify, compares it with the one that the file should have.
func (c *weightsCommand) sums(ctx context.Context, t terminal, f *weights.File) error {
	var errs []error
	for _, s := range f.Sources {
		line, err := c.sum(ctx, t, s)
		if err == nil {
			_, err = fmt.Fprintln(t.out, line)
		}
		if ctx.Err() != nil {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// sum returns what to print for a file.
func (c *weightsCommand) sum(ctx context.Context, t terminal, s *weights.Source) (line string, err error) {
	p := console.StartProgress(t.err)
	defer p.Stop()
	progress := func(done int64) error {
		p.Show("reading %s: %d of %d MB", s.Name(), done>>20, s.Size()>>20)
		return ctx.Err()
	}
	if c.Verify {
		return printable(s.Name()) + ": ok", checksum.Verify(s, progress)
	}
	line, err = checksum.Sum(s, progress)
	return line + "  " + s.Name(), err
}
