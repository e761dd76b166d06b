package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/cuda/cufft"
	"github.com/gopherwarp/gopherwarp/device"
)

// Sizes that take the device hardly any time.
const (
	gemmSize = 32
	fftSize  = 64
)

// measureLibraries measures how long enqueuing calls of NVIDIA's libraries takes, where they are.
func measureLibraries(ctx context.Context, w io.Writer, s *device.Stream) error {
	h, err := cublas.New(s)
	if errors.Is(err, cublas.ErrNoLibrary) || errors.Is(err, device.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	a, err := device.Make[float32](s, gemmSize*gemmSize)
	if err != nil {
		return err
	}
	m := cublas.Matrix[float32]{Rows: gemmSize, Cols: gemmSize, Data: a.All()}
	product := cublas.Product[float32]{Alpha: 1, A: m, B: m, C: m}
	took, err := enqueuing(ctx, s, func() error { return cublas.Gemm(h, product) })
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "cuBLAS, product of %d by %d: %.2f us\n", gemmSize, gemmSize, took)
	p, err := cufft.NewComplex[complex64](s, cufft.Shape{Dims: []int{fftSize}})
	if errors.Is(err, cufft.ErrNoLibrary) {
		return errors.Join(h.Close(), a.Close())
	}
	if err != nil {
		return err
	}
	x, err := device.Make[complex64](s, fftSize)
	if err != nil {
		return err
	}
	if took, err = enqueuing(ctx, s, func() error { return p.Forward(x.All(), x.All()) }); err != nil {
		return err
	}
	fmt.Fprintf(w, "cuFFT, transform of %d: %.2f us\n", fftSize, took)
	return errors.Join(h.Close(), a.Close(), p.Close(), x.Close())
}
