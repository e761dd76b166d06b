package device_test

import (
	"io"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// mapped is a kernel that takes a number and a tensor map, which lies at a multiple of 64 bytes.
var mapped = &driver.Kernel{
	Name: "mapped", ParamBytes: 64 + driver.TensorMapBytes + driver.HiddenBytes,
	Params: []driver.Param{{Name: "n", Size: 4}, {Name: "m", Offset: 64, Size: driver.TensorMapBytes, Tensor: true}},
}

func TestTensorMap(t *testing.T) {
	f, _, s := newFake(t, io.Discard)
	x, err := device.Make[int16](s, 4*16*3)
	must(t, err)
	p := s.Plan(mapped, device.Cover(1, 1))
	driver.Pass(p, int32(5))
	device.MapTensor[[8][8]int16](x.All(), device.Extent{Width: 16, Height: 4, Depth: 3}).Pass(p)
	must(t, p.Launch())
	got := (*gpu.MapPlan)(unsafe.Pointer(&f.params[8]))
	want := gpu.MapPlan{Address: got.Address, Size: [3]int32{16, 4, 3}, Box: [2]int32{8, 8}, Element: 2, Stride: [2]int64{32, 128}}
	if *got != want || f.params[8] == 0 {
		t.Errorf("the map is %+v, want %+v", *got, want)
	}
}

// TestTensorMapRows maps rows with gaps. The last row needs none, and its width is no multiple of 16 bytes.
func TestTensorMapRows(t *testing.T) {
	f, _, s := newFake(t, io.Discard)
	x, err := device.Make[int16](s, 3*24+13)
	must(t, err)
	p := s.Plan(mapped, device.Cover(1, 1))
	driver.Pass(p, int32(5))
	device.MapTensor[[8][8]int16](x.All(), device.Extent{Width: 13, Height: 4, Depth: 1, Row: 24}).Pass(p)
	must(t, p.Launch())
	got := (*gpu.MapPlan)(unsafe.Pointer(&f.params[8]))
	want := gpu.MapPlan{Address: got.Address, Size: [3]int32{13, 4, 1}, Box: [2]int32{8, 8}, Element: 2, Stride: [2]int64{48, 192}}
	if *got != want {
		t.Errorf("the map is %+v, want %+v", *got, want)
	}
}

func TestTensorMapMistakes(t *testing.T) {
	_, _, s := newFake(t, io.Discard)
	x, err := device.Make[int16](s, 400)
	must(t, err)
	e := device.Extent{Width: 16, Height: 4, Depth: 1}
	for what, m := range map[string]device.TensorMap[[8][8]int16]{
		"a nil buffer":              device.MapTensor[[8][8]int16](device.Slice[int16]{}, e),
		"too few elements":          device.MapTensor[[8][8]int16](x.Slice(0, 63), e),
		"no rows":                   device.MapTensor[[8][8]int16](x.All(), device.Extent{Width: 16, Depth: 1}),
		"sizes that overflow":       device.MapTensor[[8][8]int16](x.All(), device.Extent{Width: 1 << 31, Height: 1 << 31, Depth: 4}),
		"rows that overlap":         device.MapTensor[[8][8]int16](x.All(), device.Extent{Width: 16, Height: 4, Depth: 1, Row: 8}),
		"rows too far apart":        device.MapTensor[[8][8]int16](x.Slice(0, 87), device.Extent{Width: 16, Height: 4, Depth: 1, Row: 24}),
		"rows of 12 bytes":          device.MapTensor[[8][8]int16](x.All(), device.Extent{Width: 6, Height: 4, Depth: 1}),
		"an address that is odd":    device.MapTensor[[8][8]int16](x.Slice(1, 200), e),
		"a map of another type":     device.MapTensor[[8][8]int16](device.View[uint16](x.All()), e),
		"a map of nothing whatever": {},
	} {
		p := s.Plan(mapped, device.Cover(1, 1))
		driver.Pass(p, int32(5))
		m.Pass(p)
		if p.Launch() == nil || s.Synchronize(t.Context()) == nil {
			t.Errorf("%s: no error", what)
		}
	}
	p := s.Plan(mapped, device.Cover(1, 1))
	device.MapTensor[[8][8]int16](x.All(), e).Pass(p)
	wants(t, "a map in place of a number", p.Launch(), device.ErrMismatch)
}
