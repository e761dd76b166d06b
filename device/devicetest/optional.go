package devicetest

import (
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// optional copies src to dst or, if src is nil, counts from 1.
func optional(t gpu.Thread, dst, src []int32) {
	i := t.GlobalX()
	switch {
	case i >= len(dst):
	case src == nil:
		dst[i] = int32(i + 1)
	default:
		dst[i] = src[i]
	}
}

// Optional returns a kernel with two parameters, the slices dst and src of int32. It copies src to
// dst or, if src is nil, stores 1, 2, 3 and so on in dst.
func Optional() *driver.Kernel {
	type params struct{ dst, src []int32 }
	return &driver.Kernel{
		Name: "optional", Package: "devicetest",
		Params:     []driver.Param{slice("dst", 0, 4), slice("src", 24, 4)},
		ParamBytes: 48 + driver.HiddenBytes,
		Variants:   variant("optional"),
		Native: func(ts *gpu.Threads, args unsafe.Pointer) {
			p := *(*params)(args)
			for ts.Next() {
				optional(ts.Thread(), p.dst, p.src)
			}
		},
	}
}

// startOptional is the launcher of Optional.
func startOptional(s *device.Stream, g device.Grid, out, in device.Slice[int32]) error {
	p := s.Plan(Optional(), g)
	out.Pass(p)
	in.Pass(p)
	return p.Launch()
}

func (r *rig) testNone(t *testing.T) {
	s := r.stream(t)
	out, in := made[int32](t, s, 5), upload(t, s, []int32{9, 8, 7, 6, 5})
	none := device.None[int32]()
	must(t, startOptional(s, device.Cover(5, 2), out.All(), none))
	check(t, s, out, []int32{1, 2, 3, 4, 5})
	must(t, startOptional(s, device.Cover(5, 2), out.All(), in.All()))
	check(t, s, out, []int32{9, 8, 7, 6, 5})
	must(t, startOptional(s, device.Cover(5, 2), out.All(), device.View[int32](none.Slice(0, 0))))
	check(t, s, out, []int32{1, 2, 3, 4, 5})

	g, err := r.device.Capture(func(s *device.Stream) error { return startOptional(s, device.Cover(3, 2), out.Slice(1, 4), none) })
	must(t, err)
	must(t, g.Launch(s))
	check(t, s, out, []int32{1, 1, 2, 3, 5})
	must(t, g.Close())

	fails(t, s, "the zero Slice", device.ErrNilBuffer, func() error {
		return startOptional(s, device.Cover(5, 2), out.All(), device.Slice[int32]{})
	})
	for what, f := range map[string]func() error{
		"download": func() error { return device.Download(s, nil, none) },
		"upload":   func() error { return device.UploadTo(s, none, nil) },
		"copy":     func() error { return device.Copy(s, none, none) },
		"fill":     func() error { return device.Fill(s, none, 1) },
	} {
		if err := f(); err == nil {
			t.Errorf("%s of None: no error", what)
		}
		if s.Synchronize(t.Context()) == nil {
			t.Errorf("%s of None: Synchronize returns no error", what)
		}
	}
}

func (r *rig) testEmptyLaunches(t *testing.T) {
	s := r.stream(t)
	x := upload(t, s, []int32{1, 2, 3})
	fixed := Poke()
	fixed.Block = device.Dim{X: 32}
	before := r.device.Counters().Launches.Calls
	for what, launch := range map[string]func(s *device.Stream) error{
		"no elements": func(s *device.Stream) error { return startPoke(s, Poke(), device.Cover(0, 32), target{x.All(), 0, 0}) },
		"no rows": func(s *device.Stream) error {
			return startPoke(s, Poke(), device.Cover2(9, 0, device.Dim{X: 8, Y: 8}), target{x.All(), 0, 0})
		},
		"a fixed block": func(s *device.Stream) error {
			return startPoke(s, fixed, fixed.Grid(device.CoverBlocks(0, 1, fixed.Block)), target{x.All(), 0, 0})
		},
	} {
		if err := launch(s); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		g, err := r.device.Capture(launch)
		must(t, err)
		if n := len(g.Nodes()); n != 0 {
			t.Errorf("%s: a graph of %d nodes", what, n)
		}
		must(t, g.Launch(s))
		must(t, g.Close())
	}
	check(t, s, x, []int32{1, 2, 3})
	if n := r.device.Counters().Launches.Calls; n != before {
		t.Errorf("empty launches count as %d", n-before)
	}
	fails(t, s, "an empty launch with a nil buffer", device.ErrNilBuffer, func() error {
		return startPoke(s, Poke(), device.Cover(0, 32), target{device.Slice[int32]{}, 0, 0})
	})
}
