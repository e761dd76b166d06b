// Command hello prints a line from every thread of a kernel.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}

// run launches two blocks of four threads that print to w.
func run(w io.Writer) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	fmt.Fprintln(w, "device:", dev.Info())

	s, err := dev.NewStreamTo(w)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := Hello(s, device.Cover(8, 4)); err != nil {
		return err
	}
	return s.Synchronize(context.Background())
}
