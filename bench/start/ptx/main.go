// Command ptx compiles the kernel of bench/start and writes its PTX to a file. Both programs of the comparison launch this PTX:
// bench/start, and start.cu, which is the same program in C++.
//
//	go run ./bench/start/ptx add.ptx
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gopherwarp/gopherwarp/compile"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ptx:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: ptx FILE")
	}
	result, err := compile.Build(context.Background(), compile.Options{
		Patterns: []string{"github.com/gopherwarp/gopherwarp/bench/start"},
		Twins:    compile.TwinsNone,
	})
	if err == nil {
		err = result.Diagnostics.Err()
	}
	if err != nil {
		return err
	}
	// The first variant is the one with the most requirements, which start's launch meets.
	return os.WriteFile(os.Args[1], []byte(result.Packages[0].Kernels[0].Variants[0].PTX.String()), 0o666)
}
