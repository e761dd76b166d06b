package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// child is a command of this program that runs as a process of its own, during an attack. It writes a line when it is ready, and ends when
// its input ends.
type child func(args []string, in io.Reader, out io.Writer) error

// childOf returns the child with a name, or nil.
func childOf(name string) child {
	switch name {
	case crowdCommand:
		return runCrowd
	case neighbourCommand:
		return runNeighbour
	}
	return nil
}

// isChild reports whether the arguments of the program name a child.
func isChild(args []string) bool { return len(args) > 1 && childOf(args[1]) != nil }

// runChild runs the child that the arguments of the program name, and returns the exit status of the process.
func runChild(args []string) int {
	if err := childOf(args[1])(args[2:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "serve: %s: %v\n", args[1], err)
		return 1
	}
	return 0
}

// spawn starts a child and waits until it is ready. The function that it returns ends the child.
func spawn(ctx context.Context, args ...string) (end func() error, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := exec.CommandContext(ctx, program, args...)
	p.Stderr = os.Stderr
	in, err := p.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	end = func() error { return errors.Join(in.Close(), p.Wait()) }
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return end, nil
}
