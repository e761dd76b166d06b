package main

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
)

type devicesCommand struct{}

// Help is the text behind the flags.
func (devicesCommand) Help() string {
	return `Prints a line for each device that kernels can run on here, the one that programs choose first. The exit
code is 0 in any case: the CPU is always there.

Example:
  gopherwarp devices`
}

// Run is called by kong.
func (c *devicesCommand) Run(t terminal) error {
	infos, absent := cuda.List()
	host, err := cpu.Open()
	if err != nil {
		return err
	}
	for _, info := range append(infos, host.Info()) {
		printDevice(t, info)
	}
	if absent != nil {
		fmt.Fprintf(t.err, "no NVIDIA GPU: %v\n", absent)
	}
	return host.Close()
}

func printDevice(t terminal, i device.Info) {
	name := i.Kind
	if i.Kind == "cuda" {
		name = fmt.Sprintf("cuda:%d", i.Index)
	}
	fmt.Fprintf(t.out, "%-8s %v", name, i)
	if i.Bus != "" {
		fmt.Fprintf(t.out, ", bus %s", i.Bus)
	}
	if i.Driver != "" {
		fmt.Fprintf(t.out, ", driver %s", i.Driver)
	}
	fmt.Fprintln(t.out)
}
