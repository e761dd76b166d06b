package devicetest

import (
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
)

// rgb is a three-byte element: a fill cannot replace it with a repetition of a shorter value.
type rgb struct{ R, G, B uint8 }

func (r *rig) testFill(t *testing.T) {
	filled(r, t, int8(-3))
	filled(r, t, int16(1234))
	filled(r, t, float32(1.5))
	filled(r, t, 1.5)
	filled(r, t, rgb{1, 2, 3})
	filled(r, t, sample{Small: 1, Wide: 2, Three: [3]uint16{3, 4, 5}})
}

func filled[T comparable](r *rig, t *testing.T, v T) {
	s := r.stream(t)
	const n = 50_001
	b := made[T](t, s, n)
	must(t, device.Fill(s, b.Slice(3, n-2), v))
	must(t, device.Fill(s, b.Slice(7, 7), v))
	want := make([]T, n)
	for i := 3; i < n-2; i++ {
		want[i] = v
	}
	check(t, s, b, want)
}

func (r *rig) testViews(t *testing.T) {
	s := r.stream(t)
	b := upload(t, s, []uint32{0x04030201, 0x08070605, 0x0c0b0a09})
	check(t, s, device.View[uint8](b.Slice(1, 2)), []uint8{5, 6, 7, 8})
	check(t, s, device.View[uint64](b.All()), []uint64{0x0807060504030201})
	must(t, device.UploadTo(s, device.View[uint16](b.All()).Slice(1, 2), []uint16{0xabcd}))
	check(t, s, b, []uint32{0xabcd0201, 0x08070605, 0x0c0b0a09})
	fails(t, s, "a view that is not aligned", device.ErrAlign, func() error {
		return device.Fill(s, device.View[uint64](b.Slice(1, 3)), 0)
	})
	fails(t, s, "a view with pointers", device.ErrElement, func() error {
		return device.Fill(s, device.View[*int](b.All()), nil)
	})
	fails(t, s, "a view of no buffer", device.ErrNilBuffer, func() error {
		return device.Fill(s, device.View[uint64](device.Slice[byte]{}), 0)
	})
}

func (r *rig) testPlanes(t *testing.T) {
	s := r.stream(t)
	const width, height = 37, 11
	b, p, err := device.MakePlane[float32](s, width, height)
	must(t, err)
	closeLater(t, b)
	if p.Width() != width || p.Height() != height || p.Stride()*4%256 != 0 || p.Stride() < width || b.Len() != p.Stride()*height {
		t.Errorf("the plane is %d x %d with stride %d in %d elements", p.Width(), p.Height(), p.Stride(), b.Len())
	}
	host := numbers(width*height, 1)
	must(t, device.UploadPlane(s, p, host))
	got := make([]float32, width*height)
	must(t, device.DownloadPlane(s, got, p))
	check(t, s, p.Row(4), host[4*width:5*width])
	if !slices.Equal(got, host) {
		t.Error("the plane changed on the way")
	}

	part := device.Rect{X: 5, Y: 2, Width: 6, Height: 4}
	must(t, device.CopyPlane(s, p.Part(device.Rect{X: 20, Y: 6, Width: 6, Height: 4}), p.Part(part)))
	for y := range 4 {
		copy(host[(6+y)*width+20:][:6], host[(2+y)*width+5:])
	}
	must(t, device.DownloadPlane(s, got, p))
	small := make([]float32, 24)
	must(t, device.DownloadPlane(s, small, p.Part(part).Part(device.Rect{Width: 6, Height: 4})))
	must(t, device.DownloadPlane(s, nil, p.Part(device.Rect{X: 1, Width: 0, Height: 3})))
	must(t, s.Synchronize(t.Context()))
	if !slices.Equal(got, host) || !slices.Equal(small[6:12], host[3*width+5:][:6]) {
		t.Error("a part was copied to the wrong place")
	}
	r.testPlaneErrors(t, s, p)
}

func (r *rig) testPlaneErrors(t *testing.T, s *device.Stream, p device.Plane[float32]) {
	for what, c := range map[string]struct {
		dst  device.Plane[float32]
		want error
	}{
		"beyond the right edge": {p.Part(device.Rect{X: 33, Width: 5, Height: 1}), device.ErrRange},
		"beyond the last row":   {p.Part(device.Rect{Y: 11, Width: 5, Height: 1}), device.ErrRange},
		"another size":          {p.Part(device.Rect{Y: 9, Width: 5, Height: 2}), device.ErrLength},
		"itself":                {p.Part(device.Rect{X: 4, Width: 5, Height: 1}), device.ErrOverlap},
		"a bad stride":          {device.NewPlane(p.All(), 8, 7), device.ErrRange},
	} {
		fails(t, s, "copy to "+what, c.want, func() error {
			return device.CopyPlane(s, c.dst, p.Part(device.Rect{Width: 5, Height: 1}))
		})
	}
	fails(t, s, "a missing row", device.ErrRange, func() error { return device.Fill(s, p.Row(11), 0) })
	fails(t, s, "too few elements", device.ErrLength, func() error { return device.UploadPlane(s, p, make([]float32, 3)) })
}

func (r *rig) testBetweenDevices(t *testing.T) {
	s := r.stream(t)
	other := streamTo(t, opened(t, r.open), nil)
	a, b := upload(t, other, numbers(5000, 1)), made[float32](t, s, 5000)
	must(t, device.CopyFrom(s, b.All(), other, a.All()))
	must(t, device.Fill(other, a.All(), 0)) // after the copy
	must(t, other.Synchronize(t.Context()))
	check(t, s, b, numbers(5000, 1))
	must(t, device.CopyFrom(s, b.Slice(0, 10), s, b.Slice(10, 20)))
	check(t, s, b.Slice(0, 20), slices.Concat(numbers(5000, 1)[10:20], numbers(5000, 1)[10:20]))
	wants(t, "another length", device.CopyFrom(s, b.All(), other, a.Slice(0, 4)), device.ErrLength)
	wants(t, "Synchronize", s.Synchronize(t.Context()), device.ErrLength)
	wants(t, "Synchronize of the other", other.Synchronize(t.Context()), device.ErrLength)
}
