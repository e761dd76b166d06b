package prim

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// view returns x, whose elements are of a type with the memory of U.
func view[U, T any](x device.Slice[T]) device.Slice[U] { return device.View[U](x) }

// ends are where results go and where they come from.
type ends[T any] struct{ dst, src device.Slice[T] }

// between returns slices of a type with the memory of U.
func between[U, T any](dst, src device.Slice[T]) ends[U] { return ends[U]{view[U](dst), view[U](src)} }

// packed returns x as packs, and the elements that make no pack.
func packed[A, T any](x device.Slice[T]) (packs device.Slice[A], rest device.Slice[T]) {
	per := int(reflect.TypeFor[A]().Size() / reflect.TypeFor[T]().Size())
	n := x.Len() / per * per
	return device.View[A](x.Slice(0, n)), x.Slice(n, x.Len())
}

// refuse returns a mistake of the caller, which sticks to the stream.
func refuse(s *device.Stream, what string, err error) error {
	none := s.Loans()
	return none.Enqueue(func() error {
		return fmt.Errorf("prim: %s: %w", what, err)
	})
}

// idle is a piece of work without work. Like any other it returns the error that sticks to the stream.
func idle(s *device.Stream) error {
	none := s.Loans()
	return none.Enqueue(func() error { return nil })
}

// closeAll closes buffers, of which some may be nil.
func closeAll(all ...io.Closer) error {
	var errs []error
	for _, b := range all {
		if !reflect.ValueOf(b).IsNil() {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(errs...)
}
