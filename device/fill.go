package device

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// fillSeed is the number of bytes to upload for a value that no driver.Filler supports; copies on the
// device produce the rest.
const fillSeed = 32 << 10

// Fill sets all elements of dst to v.
func Fill[T any](s *Stream, dst Slice[T], v T) error {
	return fillSpan(s, span(dst), memoryOf([]T{v}).bytes)
}

func fillSpan(s *Stream, dst span, value []byte) error {
	n := dst.len * len(value)
	return s.work(Activity{Work: WorkFill, Bytes: n}, func(q driver.Queue) error {
		return pinned(job{stream: s, verb: "fill"}, dst, func(address uintptr) error {
			if n == 0 {
				return nil
			}
			return fill(q, address, fillValue(value), n)
		})
	})
}

// fillValue returns the shortest value whose repetition is v: a driver.Filler takes 1, 2 or 4 bytes.
func fillValue(v []byte) []byte {
	for _, n := range []int{1, 2, 4} {
		if len(v)%n == 0 && bytes.Equal(v, bytes.Repeat(v[:n], len(v)/n)) {
			return v[:n]
		}
	}
	return v
}

// seed enqueues the filling of the first of n bytes, and returns how many. A graph cannot contain an
// upload, but fills of a part of the value.
func seed(q driver.Queue, dst uintptr, value []byte, n int) (done int, err error) {
	r, ok := q.(*recorder)
	if !ok {
		done = min(n, max(1, fillSeed/len(value))*len(value))
		return done, q.Upload(dst, slices.Repeat(value, done/len(value)))
	}
	step := 4
	for len(value)%step != 0 || dst%uintptr(step) != 0 {
		step /= 2
	}
	for i := 0; i < len(value) && err == nil; i += step {
		err = r.Fill(dst+uintptr(i), value[i:i+step], step)
	}
	return len(value), err
}

// fill enqueues the filling of n bytes, a multiple of the value's size.
func fill(q driver.Queue, dst uintptr, value []byte, n int) error {
	if f, ok := q.(driver.Filler); ok && len(value) <= 4 && len(value) != 3 && dst%uintptr(len(value)) == 0 {
		return f.Fill(dst, value, n)
	}
	done, err := seed(q, dst, value, n)
	if err != nil {
		return fmt.Errorf("device: fill: %w", err)
	}
	for done < n { // every copy doubles the filled part
		step := min(done, n-done)
		if err := q.Copy(dst+uintptr(done), dst, step); err != nil {
			return fmt.Errorf("device: fill: %w", err)
		}
		done += step
	}
	return nil
}
