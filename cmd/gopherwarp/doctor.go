package main

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/cuda"
)

type doctorCommand struct{}

// Help is the text behind the flags.
func (doctorCommand) Help() string {
	return `Looks at all that a program needs to use an NVIDIA GPU, says what is wrong, what that means and what to do.
The exit code is 0 where a GPU can be used and 3 where none can.

Example:
  gopherwarp doctor || echo "kernels will run on the CPU"`
}

// Run is called by kong.
func (c *doctorCommand) Run(t terminal) error {
	t.out = console.Lines(t.out, len("WRONG  "))
	report := cuda.Diagnose()
	for _, f := range report.Findings {
		mark := "ok   "
		if !f.OK {
			mark = "WRONG"
		}
		fmt.Fprintf(t.out, "%s  %s\n", mark, f.What)
		for _, more := range [...]string{f.Means, f.Do} {
			if more != "" {
				fmt.Fprintf(t.out, "       %s\n", more)
			}
		}
	}
	for _, info := range report.Devices {
		printDevice(t, info)
	}
	here().print(t.out)
	printLibraries(t)
	if !report.Usable() {
		fmt.Fprintln(t.out, "No GPU can be used here. Programs run their kernels on the CPU.")
		return exit{code: exitNoGPU}
	}
	return nil
}
