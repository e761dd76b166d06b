package main

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/cuda/cufft"
	"github.com/gopherwarp/gopherwarp/cuda/curand"
	"github.com/gopherwarp/gopherwarp/cuda/nccl"
)

// printLibraries describes which of NVIDIA's libraries are there, which only programs need that use
// their packages.
func printLibraries(t terminal) {
	for _, l := range []struct {
		name, use string
		installed func() (version, path string, err error)
	}{
		{"cuBLAS", "cuda/cublas and cuda/gonumblas", cublas.Installed},
		{"cuFFT", "cuda/cufft", cufft.Installed},
		{"cuRAND", "cuda/curand", curand.Installed},
		{"NCCL", "cuda/nccl", nccl.Installed},
	} {
		version, path, err := l.installed()
		switch {
		case errors.Is(err, cublas.ErrNoLibrary): // that of all libraries
			fmt.Fprintf(t.out, "-      %s is not installed; only programs that use %s need it\n", l.name, l.use)
		case err != nil:
			fmt.Fprintf(t.out, "WRONG  %s: %v\n", l.name, err)
		default:
			fmt.Fprintf(t.out, "ok     %s %s is %s\n", l.name, version, path)
		}
	}
}
