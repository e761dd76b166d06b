// Command unchecked compiles the kernels of package suite without the checks that Go makes, and writes them to a file.
// With this file, a machine without Go can measure the cost of the checks:
//
//	go run ./bench/suite/unchecked unchecked.gob
//	gopherwarp bench -unchecked unchecked.gob
package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "unchecked:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: unchecked FILE")
	}
	result, err := compile.Build(context.Background(), compile.Options{
		Patterns: []string{"github.com/gopherwarp/gopherwarp/bench/suite"},
		Checks:   compile.ChecksOff,
	})
	if err == nil {
		err = result.Diagnostics.Err()
	}
	if err != nil {
		return err
	}
	var kernels []*driver.Kernel
	for _, p := range result.Packages {
		for _, k := range p.Kernels {
			kernels = append(kernels, k.Kernel)
		}
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		return err
	}
	return errors.Join(gob.NewEncoder(f).Encode(kernels), f.Close())
}
