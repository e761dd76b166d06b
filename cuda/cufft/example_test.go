package cufft_test

import (
	"cmp"
	"fmt"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/cufft"
	"github.com/gopherwarp/gopherwarp/device"
)

// The size of a picture.
const rows, width = 10, 64

// roundTrip transforms the rows of a picture to their spectra and back.
func roundTrip(s *device.Stream, x device.Slice[float32], y device.Slice[complex64]) error {
	p, err := cufft.NewReal[float32, complex64](s, cufft.Shape{Dims: []int{width}, Batch: rows})
	if err != nil {
		return err
	}
	defer p.Close()
	return cmp.Or(p.Forward(x, y), p.Inverse(y, x)) // x is now width times its original value
}

func ExampleNewReal() {
	dev, err := cuda.Open(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := device.Make[float32](s, rows*width)
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := device.Make[complex64](s, rows*(width/2+1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(roundTrip(s, x.All(), y.All()))
}
