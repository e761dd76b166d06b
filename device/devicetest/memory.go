package devicetest

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
)

func (r *rig) testInfo(t *testing.T) {
	i := r.device.Info()
	if i.Kind == "" || i.Name == "" || i.Cores < 1 {
		t.Errorf("no kind, name or cores: %+v", i)
	}
	l := i.Limits
	if l.ThreadsPerBlock < 256 || l.SharedPerBlock < 16<<10 {
		t.Errorf("limits are %+v, want at least 256 threads and 16 KiB of shared memory in a block", l)
	}
	for axis := range 3 {
		if l.Block[axis] < 1 || l.Grid[axis] < 1 {
			t.Errorf("limits are %+v, want at least 1 along each axis", l)
		}
	}
}

// sample is a struct with padding, an array and an inner struct.
type sample struct {
	Small int8
	Wide  float64
	Three [3]uint16
	Inner struct{ On bool }
}

func (r *rig) testRoundTrip(t *testing.T) {
	t.Run("uint8", func(t *testing.T) { roundTrip(r, t, func(i int) uint8 { return uint8(i) }) })
	t.Run("bool", func(t *testing.T) { roundTrip(r, t, func(i int) bool { return i%3 == 0 }) })
	t.Run("int16", func(t *testing.T) { roundTrip(r, t, func(i int) int16 { return int16(-i) }) })
	t.Run("float32", func(t *testing.T) { roundTrip(r, t, func(i int) float32 { return float32(i) / 3 }) })
	t.Run("int", func(t *testing.T) { roundTrip(r, t, func(i int) int { return i << 40 }) })
	t.Run("array", func(t *testing.T) { roundTrip(r, t, func(i int) [3]uint32 { return [3]uint32{1: uint32(i)} }) })
	t.Run("struct", func(t *testing.T) {
		roundTrip(r, t, func(i int) sample {
			return sample{Small: int8(i), Wide: float64(i) / 7, Three: [3]uint16{2: uint16(i)}, Inner: struct{ On bool }{true}}
		})
	})
}

func roundTrip[T comparable](r *rig, t *testing.T, element func(int) T) {
	s := r.stream(t)
	for _, n := range []int{0, 1, 7, 256, 100_003} {
		host := make([]T, n)
		for i := range host {
			host[i] = element(i)
		}
		b := upload(t, s, host)
		if b.Len() != n || b.All().Len() != n {
			t.Errorf("a buffer of %d elements has length %d, its slice %d", n, b.Len(), b.All().Len())
		}
		check(t, s, b, host)
	}
}

func (r *rig) testUploadTakesACopy(t *testing.T) {
	s := r.stream(t)
	host := numbers(100_000, 1)
	b := upload(t, s, host)
	clear(host)
	check(t, s, b, numbers(100_000, 1))
}

func (r *rig) testMakeIsZero(t *testing.T) {
	s := r.stream(t)
	const n = 50_000
	for range 3 { // used memory, if the device reuses it
		check(t, s, made[int32](t, s, n), make([]int32, n))
		b, err := device.Upload(s, numbers(n, 1))
		must(t, err)
		must(t, b.Close())
	}
	check(t, s, made[int64](t, s, 0), nil)
}

func (r *rig) testSlices(t *testing.T) {
	s := r.stream(t)
	b := upload(t, s, []int32{0, 1, 2, 3, 4, 5, 6, 7})
	check(t, s, b.Slice(2, 5), []int32{2, 3, 4})
	check(t, s, b.Slice(2, 7).Slice(1, 3), []int32{3, 4})
	check(t, s, b.Slice(8, 8), nil)
	must(t, device.UploadTo(s, b.Slice(3, 5), []int32{30, 40}))
	must(t, device.UploadTo(s, b.Slice(8, 8), nil))
	check(t, s, b, []int32{0, 1, 2, 30, 40, 5, 6, 7})
}

func (r *rig) testCopy(t *testing.T) {
	s := r.stream(t)
	a := upload(t, s, []int16{1, 2, 3, 4, 5, 6})
	b := made[int16](t, s, 4)
	must(t, device.Copy(s, b.All(), a.Slice(1, 5)))
	check(t, s, b, []int16{2, 3, 4, 5})
	must(t, device.Copy(s, a.Slice(0, 3), a.Slice(3, 6)))
	must(t, device.Copy(s, a.Slice(3, 3), a.Slice(0, 0)))
	check(t, s, a, []int16{4, 5, 6, 4, 5, 6})
}

func (r *rig) testTransferErrors(t *testing.T) {
	s := r.stream(t)
	b := upload(t, s, []int32{1, 2, 3})
	closed := upload(t, s, []int32{1, 2, 3})
	must(t, closed.Close())
	other := opened(t, r.open)
	foreign := upload(t, streamTo(t, other, nil), []int32{1, 2, 3})
	host := make([]int32, 3)
	var none *device.Buffer[int32]
	for _, c := range []struct {
		what  string
		slice device.Slice[int32]
		want  error
	}{
		{"a nil buffer", none.All(), device.ErrNilBuffer},
		{"a slice of a nil buffer", none.Slice(0, 3), device.ErrNilBuffer},
		{"a closed buffer", closed.All(), device.ErrClosed},
		{"another device's buffer", foreign.All(), device.ErrForeign},
		{"bounds past the end", b.Slice(1, 4), device.ErrRange},
		{"bounds below 0", b.Slice(-1, 2), device.ErrRange},
		{"bounds in reverse", b.Slice(2, 1), device.ErrRange},
		{"a slice of bounds out of range", b.Slice(1, 4).Slice(0, 1), device.ErrRange},
		{"a slice that is too short", b.Slice(0, 2), device.ErrLength},
	} {
		fails(t, s, "upload to "+c.what, c.want, func() error { return device.UploadTo(s, c.slice, host) })
		fails(t, s, "download from "+c.what, c.want, func() error { return device.Download(s, host, c.slice) })
		fails(t, s, "copy to "+c.what, c.want, func() error { return device.Copy(s, c.slice, b.All()) })
		fails(t, s, "copy from "+c.what, c.want, func() error { return device.Copy(s, b.All(), c.slice) })
	}
	fails(t, s, "download from nothing", device.ErrNilBuffer, func() error { return device.Download(s, host, nil) })
	fails(t, s, "copy to itself", device.ErrOverlap, func() error { return device.Copy(s, b.Slice(0, 2), b.Slice(1, 3)) })
	wants(t, "closing a closed buffer", closed.Close(), device.ErrClosed)
	wants(t, "closing a nil buffer", none.Close(), device.ErrNilBuffer)
	check(t, s, b, []int32{1, 2, 3})
}

func (r *rig) testMakeErrors(t *testing.T) {
	s := r.stream(t)
	_, err := device.Make[int32](s, -1)
	wants(t, "a negative length", err, device.ErrRange)
	_, err = device.Make[int64](s, 1<<61)
	wants(t, "a size that overflows", err, device.ErrRange)
	_, err = device.Make[*int](s, 1)
	wants(t, "pointers", err, device.ErrElement)
	_, err = device.Upload(s, []struct{ Name string }{{"x"}})
	wants(t, "structs with strings", err, device.ErrElement)
	if _, err = device.Make[byte](s, 1<<50); err == nil {
		t.Error("a buffer of 1 PiB was allocated")
	}
	must(t, s.Synchronize(t.Context()))
}
