// Command mistakes launches kernels with one mistake each, which the debuggers and checkers of docs/debugging.md
// should find.
//
//	mistakes past    # an index out of range; built with -checks=off, the kernel reads past the slice
//	mistakes sum     # a missing barrier
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mistakes:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 || args[0] != "past" && args[0] != "sum" {
		return errors.New("usage: mistakes past|sum")
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	fmt.Println(dev.Info())
	s, err := dev.NewStream()
	if err != nil {
		return errors.Join(err, dev.Close())
	}
	return errors.Join(launch(s, args[0]), s.Close(), dev.Close())
}

// launch launches the kernel with the given name and waits for it.
func launch(s *device.Stream, kernel string) error {
	const n = 1024
	x, errX := device.Make[float32](s, n)
	out, errOut := device.Make[float32](s, n)
	if err := errors.Join(errX, errOut); err != nil {
		return err
	}
	var err error
	if kernel == "past" {
		err = Past(s, device.Cover(n, 256), x.All(), out.All(), 1<<28)
	} else {
		err = Sum(s, device.Blocks{X: n / 256}, x.All(), out.All())
	}
	return errors.Join(err, s.Synchronize(context.Background()), x.Close(), out.Close())
}
