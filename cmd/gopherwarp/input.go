package main

import (
	"context"
	"io"
)

// input reads from a terminal or a pipe. If ctx ends while Read waits, Read returns the error of ctx.
type input struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader. A read that ctx has ended continues in the background, so there may be no further one.
func (i input) Read(to []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	data, done := make([]byte, len(to)), make(chan result, 1)
	go func() {
		n, err := i.in.Read(data)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(to, data[:r.n]), r.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}
