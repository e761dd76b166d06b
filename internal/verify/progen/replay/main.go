// Command replay runs random kernels on a GPU, or on the device that GOPHERWARP_DEVICE selects, for internal/verify/progen/long, which compiles them: compiler and
// driver do not meet in one program.
//
//	go run ./internal/verify/progen/long -gpu -n 20000 -seed 9
//
// It reads questions from standard input and writes the answers, whether a kernel left what it should, to
// standard output. The driver compiles only one kernel at a time in a process, so long runs several
// processes.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

func main() {
	if err := replay(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// replay serves with the first GPU or the device that is selected.
func replay(r io.Reader, w io.Writer) error {
	open := gopherwarp.Open
	if os.Getenv(gopherwarp.Variable) == "" {
		open = func() (*device.Device, error) { return cuda.Open(0) }
	}
	dev, err := open()
	if err != nil {
		return err
	}
	defer dev.Close()
	dev.CoarsenAlways(true) // the kernels are small
	return serve(dev, r, w)
}

func serve(dev *device.Device, r io.Reader, w io.Writer) error {
	return trial.Serve(r, w, dev.Info().Name, trial.NewRunner(dev).Check)
}
