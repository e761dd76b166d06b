// Command kernelgen compiles kernels written in Go and writes their launchers and PTX beside the sources.
//
//	//go:generate go tool kernelgen .
//
// If a module declares kernelgen as a tool, "go generate" runs it:
//
//	go get -tool github.com/gopherwarp/gopherwarp/cmd/kernelgen
//	go generate ./...
//
// It is the same as gopherwarp build, but contains only the compiler, so the go command builds it in half the time. Run kernelgen -help for
// its flags. The exit code is 0 for success, 1 if a package is refused or a check failed, and 2 for wrong usage.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/gopherwarp/gopherwarp/cmd/internal/build"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	name := build.Called(os.Args[0], "github.com/gopherwarp/gopherwarp/cmd/kernelgen")
	code := build.Main(ctx, name, os.Args[1:], build.Streams{Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
