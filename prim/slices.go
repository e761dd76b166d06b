package prim

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
)

// view returns x, whose elements are of a type with the memory of U.
func view[U, T any](x device.Slice[T]) device.Slice[U] { return device.View[U](x) }

// inFours returns x as arrays of four, and the elements that make no four.
func inFours[T any](x device.Slice[T]) (fours device.Slice[[4]T], rest device.Slice[T]) {
	n := x.Len() / 4 * 4
	return device.View[[4]T](x.Slice(0, n)), x.Slice(n, x.Len())
}

// refuse returns a mistake of the caller, which sticks to the stream.
func refuse(s *device.Stream, what string, err error) error {
	none := device.LoansOn(s)
	return none.Enqueue(func() error {
		return fmt.Errorf("prim: %s: %w", what, err)
	})
}

// idle is a piece of work without work. Like any other it returns the error that sticks to the stream.
func idle(s *device.Stream) error {
	none := device.LoansOn(s)
	return none.Enqueue(func() error { return nil })
}
