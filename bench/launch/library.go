package main

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/cuda/cufft"
	"github.com/gopherwarp/gopherwarp/device"
)

// Sizes for which the device takes hardly any time.
const (
	gemmSize = 32
	fftSize  = 64
)

// addLibraries adds calls of NVIDIA's libraries that are installed, and returns the function that
// closes them.
func (b *bench) addLibraries() (closer func() error, err error) {
	s := b.stream
	h, err := cublas.New(s)
	if errors.Is(err, cublas.ErrNoLibrary) || errors.Is(err, device.ErrUnsupported) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	a, err := device.Make[float32](s, gemmSize*gemmSize)
	if err != nil {
		return nil, err
	}
	m := cublas.Matrix[float32]{Rows: gemmSize, Cols: gemmSize, Data: a.All()}
	product := cublas.Product[float32]{Alpha: 1, A: m, B: m, C: m}
	b.enqueuing("launch-cublas", fmt.Sprintf("cuBLAS, product of %d by %d", gemmSize, gemmSize), 6, func() error { return cublas.Gemm(h, product) })
	p, err := cufft.NewComplex[complex64](s, cufft.Shape{Dims: []int{fftSize}})
	if errors.Is(err, cufft.ErrNoLibrary) {
		return func() error { return errors.Join(h.Close(), a.Close()) }, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := device.Make[complex64](s, fftSize)
	if err != nil {
		return nil, err
	}
	b.enqueuing("launch-cufft", fmt.Sprintf("cuFFT, transform of %d", fftSize), 7, func() error { return p.Forward(x.All(), x.All()) })
	return func() error { return errors.Join(h.Close(), a.Close(), p.Close(), x.Close()) }, nil
}
