package prim

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// view returns x with U as the element type, which must have the representation of T.
func view[U, T any](x device.Slice[T]) device.Slice[U] { return device.View[U](x) }

// ends are the destination and the source of an operation.
type ends[T any] struct{ dst, src device.Slice[T] }

// between returns dst and src with U as the element type, which must have the representation of T.
func between[U, T any](dst, src device.Slice[T]) ends[U] { return ends[U]{view[U](dst), view[U](src)} }

// packed returns x as packs, and the remaining elements that do not fill a pack.
func packed[A, T any](x device.Slice[T]) (packs device.Slice[A], rest device.Slice[T]) {
	per := int(reflect.TypeFor[A]().Size() / reflect.TypeFor[T]().Size())
	n := x.Len() / per * per
	return device.View[A](x.Slice(0, n)), x.Slice(n, x.Len())
}

// refuse returns an error of the caller, which the stream keeps.
func refuse(s *device.Stream, what string, err error) error {
	none := s.Loans()
	return none.Enqueue(func() error {
		return fmt.Errorf("prim: %s: %w", what, err)
	})
}

// idle enqueues an empty operation. Like any other operation, it returns the error that the stream
// keeps.
func idle(s *device.Stream) error {
	none := s.Loans()
	return none.Enqueue(func() error { return nil })
}

// closeAll closes buffers, some of which may be nil.
func closeAll(all ...io.Closer) error {
	var errs []error
	for _, b := range all {
		if !reflect.ValueOf(b).IsNil() {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(errs...)
}
