package device

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Plane is a rectangle of elements in a buffer's memory: rows of Width elements that start Stride
// elements apart. A Plane is small, so pass it by value. Pass All() and the stride to a kernel.
type Plane[T any] struct {
	in     Slice[T]
	width  int
	height int
	stride int
}

// rowAlign is the alignment of a new plane's rows in bytes, which minimizes the memory transactions of
// threads that read along a row.
const rowAlign = 256

// MakePlane returns a plane of zeros with the given width and height, and the buffer that contains
// it. The rows are aligned for the device.
func MakePlane[T any](s *Stream, width, height int) (*Buffer[T], Plane[T], error) {
	stride, err := alignedStride(reflect.TypeFor[T](), width, height)
	if err != nil {
		return nil, Plane[T]{}, err
	}
	b, err := Make[T](s, stride*height)
	if err != nil {
		return nil, Plane[T]{}, err
	}
	return b, Plane[T]{b.All(), width, height, stride}, nil
}

// alignedStride returns the stride of a plane of values of type t, in elements.
func alignedStride(t reflect.Type, width, height int) (int, error) {
	if err := errors.Join(checkElements(t, width), checkElements(t, height)); err != nil {
		return 0, err
	}
	stride := width
	for size := int(t.Size()); size > 0 && stride*size%rowAlign != 0; {
		stride++
	}
	if height > 0 && stride > 0 && stride*height/height != stride {
		return 0, fmt.Errorf("device: plane of %d x %d elements: %w", width, height, ErrRange)
	}
	return stride, nil
}

// NewPlane returns a plane in the memory of x, with as many rows as fit. A row has the given width
// in elements. The stride is the number of elements from the start of a row to the start of the
// next row. If the sizes are invalid, using the plane is an error.
func NewPlane[T any](x Slice[T], width, stride int) Plane[T] {
	if width < 0 || stride < max(1, width) {
		x = Slice[T](invalid(fmt.Errorf("plane with rows of %d elements, %d apart: %w", width, stride, ErrRange)))
		return Plane[T]{in: x}
	}
	height := x.len / stride
	if x.len%stride >= width && width > 0 {
		height++ // the last row needs no padding
	}
	return Plane[T]{x, width, height, stride}
}

// Width returns the number of elements in a row.
func (p Plane[T]) Width() int { return p.width }

// Height returns the number of rows.
func (p Plane[T]) Height() int { return p.height }

// Stride returns the number of elements from the start of a row to the start of the next row.
func (p Plane[T]) Stride() int { return p.stride }

// All returns the memory from the first to the last element, including the padding between rows.
func (p Plane[T]) All() Slice[T] { return p.in }

// Row returns row y. If y is out of range, using the slice is an error.
func (p Plane[T]) Row(y int) Slice[T] {
	if span(p.in).mistake() == nil && (y < 0 || y >= p.height) {
		return Slice[T](invalid(fmt.Errorf("row %d of %d: %w", y, p.height, ErrRange)))
	}
	return p.in.Slice(y*p.stride, y*p.stride+p.width)
}

// Rect is a rectangle of a plane: columns X to X+Width-1 of rows Y to Y+Height-1.
type Rect struct{ X, Y, Width, Height int }

// Part returns a rectangle of the plane. If the bounds are out of range, using the part is an
// error.
func (p Plane[T]) Part(r Rect) Plane[T] {
	if span(p.in).mistake() != nil {
		return p
	}
	if r.X < 0 || r.Y < 0 || r.Width < 0 || r.Height < 0 || r.X > p.width-r.Width || r.Y > p.height-r.Height {
		return Plane[T]{in: Slice[T](invalid(fmt.Errorf("part %+v of %d x %d elements: %w", r, p.width, p.height, ErrRange)))}
	}
	from := r.Y*p.stride + r.X
	if r.Width == 0 || r.Height == 0 {
		return Plane[T]{p.in.Slice(0, 0), r.Width, r.Height, p.stride}
	}
	return Plane[T]{p.in.Slice(from, from+(r.Height-1)*p.stride+r.Width), r.Width, r.Height, p.stride}
}

// CopyPlane copies src to dst, which must have the same width and height and must not overlap src.
func CopyPlane[T any](s *Stream, dst, src Plane[T]) error {
	return copyRectangle(s, rectangleOf(dst), rectangleOf(src))
}

// rectangle is a Plane of any type.
type rectangle struct {
	in                    span
	width, height, stride int
	elem                  int // bytes of an element
}

func rectangleOf[T any](p Plane[T]) rectangle {
	return rectangle{span(p.in), p.width, p.height, p.stride, sizeOf[T]()}
}

func copyRectangle(s *Stream, dst, src rectangle) error {
	return s.work(Activity{Work: WorkCopy, Bytes: src.width * src.height * src.elem}, func(q driver.Queue) error {
		return pinned(job{stream: s, verb: "copy from"}, src.in, func(from uintptr) error {
			return pinned(job{stream: s, verb: "copy to"}, dst.in, func(to uintptr) error {
				switch {
				case dst.width != src.width || dst.height != src.height:
					return fmt.Errorf("device: copy of %d x %d elements to %d x %d: %w",
						src.width, src.height, dst.width, dst.height, ErrLength)
				case dst.meets(src):
					return fmt.Errorf("device: copy: %w", ErrOverlap)
				}
				return copyRows(q, dst.rows(to), src.rows(from), src)
			})
		})
	})
}

// meets reports whether p and o may have an element in common. The result is exact if the strides are
// equal; otherwise meets compares the memory that the planes cover.
func (p rectangle) meets(o rectangle) bool {
	if overlap := p.in.overlaps(o.in, p.elem, o.elem); !overlap || p.stride != o.stride || p.stride == 0 {
		return overlap
	}
	apart := (o.in.offset - p.in.offset) / p.elem
	dy, dx := apart/p.stride, apart%p.stride
	if dx < 0 {
		dy, dx = dy-1, dx+p.stride
	}
	near := dx < p.width && dy < p.height && -dy < o.height                   // o's columns begin in p's
	wrapped := dx > p.stride-o.width && dy+1 < p.height && -(dy+1) < o.height // or p's in o's
	return near || wrapped
}

func (p rectangle) rows(address uintptr) driver.Rows {
	return driver.Rows{Address: address, Pitch: p.stride * p.elem}
}

// copyRows enqueues a copy of rows of p's size.
func copyRows(q driver.Queue, dst, src driver.Rows, p rectangle) error {
	width := p.width * p.elem
	if width == 0 || p.height == 0 {
		return nil
	}
	if c, ok := q.(driver.StridedCopier); ok {
		return c.CopyRows(dst, src, width, p.height)
	}
	for y := range p.height {
		if err := q.Copy(dst.Address+uintptr(y*dst.Pitch), src.Address+uintptr(y*src.Pitch), width); err != nil {
			return err
		}
	}
	return nil
}

// UploadPlane copies host, which consists of rows without padding, to dst. The caller may change host
// when UploadPlane returns.
func UploadPlane[T any](s *Stream, dst Plane[T], host []T) error {
	return throughRows(s, dst, len(host), func(packed Plane[T]) error {
		return join(UploadTo(s, packed.in, host), CopyPlane(s, dst, packed))
	})
}

// DownloadPlane copies src to host, as rows without padding. The contents of host are valid after
// the stream's next Synchronize, if it returns nil.
func DownloadPlane[T any](s *Stream, host []T, src Plane[T]) error {
	return throughRows(s, src, len(host), func(packed Plane[T]) error {
		return join(CopyPlane(s, packed, src), Download(s, host, packed.in))
	})
}

// throughRows calls f with device memory for the rows of p without padding. The host has n elements.
func throughRows[T any](s *Stream, p Plane[T], n int, f func(packed Plane[T]) error) error {
	if span(p.in).mistake() == nil && p.width*p.height != n {
		return s.keep(fmt.Errorf("device: %d elements on the host, %d x %d on the device: %w", n, p.width, p.height, ErrLength))
	}
	b, err := MakeDirty[T](s, n)
	if err != nil {
		return s.keep(err)
	}
	return join(f(Plane[T]{b.All(), p.width, p.height, p.width}), b.Close())
}
