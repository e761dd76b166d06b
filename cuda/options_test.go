package cuda

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

func TestLaunchOptions(t *testing.T) {
	type dim = device.Dim
	for _, c := range []struct {
		what   string
		grid   device.Grid
		shared int
		want   map[int32][3]uint32
	}{
		{"nothing", device.Grid{}, 0, map[int32][3]uint32{}},
		{"shared memory", device.Grid{Shared: 1000}, 1000, map[int32][3]uint32{}},
		{"much shared memory", device.Grid{Shared: 200 << 10}, 200 << 10, map[int32][3]uint32{}},
		{"a cluster", device.Grid{Cluster: dim{X: 4, Y: 2}}, 0, map[int32][3]uint32{cudasys.LaunchCluster: {4, 2, 1}}},
		{"all", device.Grid{Cluster: dim{X: 8, Y: 2}, Cooperative: true}, 0, map[int32][3]uint32{
			cudasys.LaunchCluster: {8, 2, 1}, cudasys.LaunchCooperative: {1},
		}},
	} {
		f := newFake()
		var got []cudafake.Launch
		f.Execute = func(l *cudafake.Launch) cudasys.Status {
			got = append(got, *l)
			return cudasys.Success
		}
		dev := open(t, f)
		s := newStream(t, dev)
		c.grid.Blocks, c.grid.Block = dim{X: 16, Y: 2}, dim{X: 32}
		check(t, launch[int32](s, devicetest.Greet(), c.grid))
		check(t, launch[int32](s, devicetest.Greet(), device.Cover(1, 1))) // the options do not carry over to the next launch
		check(t, s.Synchronize(t.Context()))
		mustClose(t, dev)
		if len(got) != 2 || got[0].Shared != c.shared || !maps.Equal(got[0].Attributes, c.want) ||
			got[1].Shared != 0 || len(got[1].Attributes) != 0 {
			t.Errorf("%s: launched %+v", c.what, got)
		}
	}
}

// awaiting returns a kernel that calls AwaitPrevious.
func awaiting() *driver.Kernel {
	k := devicetest.Greet()
	for i := range k.Variants {
		k.Variants[i].Awaits = true
	}
	return k
}

// TestOverlap launches and records kernels of which some call AwaitPrevious.
func TestOverlap(t *testing.T) {
	f := newFake()
	var early []bool
	f.Execute = func(l *cudafake.Launch) cudasys.Status {
		_, ok := l.Attributes[cudasys.LaunchProgrammatic]
		early = append(early, ok)
		return cudasys.Success
	}
	dev := open(t, f)
	defer mustClose(t, dev)
	s, k, waits := newStream(t, dev), devicetest.Greet(), awaiting()
	all := func(s *device.Stream) error {
		return errors.Join(launch[int32](s, waits, device.Cover(1, 1)), launch[int32](s, k, device.Cover(1, 1)), launch[int32](s, waits, device.Cover(1, 1)),
			launch[int32](s, waits, device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: 1}, Cooperative: true}), launch[int32](s, waits, device.Cover(1, 1)))
	}
	check(t, all(s))
	dev.OverlapNever(true)
	check(t, all(s))
	check(t, s.Synchronize(t.Context()))
	if want := []bool{true, false, true, false, true, false, false, false, false, false}; !slices.Equal(early, want) {
		t.Errorf("launches that may start early: %v, want %v", early, want)
	}
	for _, never := range []bool{true, false} {
		dev.OverlapNever(never)
		g, err := dev.Capture(all)
		check(t, err)
		want := 2 // the third launch and the last one
		if never {
			want = 0
		}
		if got := f.EarlyNodes(); got != want {
			t.Errorf("%d nodes may start early, want %d", got, want)
		}
		check(t, g.Close())
	}
}

// TestOverlapInGraphs records kernels that call AwaitPrevious where not all edges may be programmatic.
func TestOverlapInGraphs(t *testing.T) {
	k := awaiting()
	start := func(s *device.Stream) error { return launch[int32](s, k, device.Cover(1, 1)) }
	for name, c := range map[string]struct {
		version, want int
		record        func(s *device.Stream, x device.Slice[int32]) error
	}{
		"an old driver": {12020, 0, func(s *device.Stream, _ device.Slice[int32]) error { return errors.Join(start(s), start(s)) }},
		"a new driver":  {12030, 1, func(s *device.Stream, _ device.Slice[int32]) error { return errors.Join(start(s), start(s)) }},
		"after a fill": {13000, 0, func(s *device.Stream, x device.Slice[int32]) error {
			return errors.Join(start(s), device.Fill(s, x, 1), start(s))
		}},
		"after two launches": {13000, 1, func(s *device.Stream, _ device.Slice[int32]) error {
			other, err := s.Fork()
			return errors.Join(err, start(s), start(other), s.Join(other), start(s), start(s), other.Close())
		}},
	} {
		f := newFake()
		f.Version = c.version
		dev := open(t, f)
		s := newStream(t, dev)
		x, err := device.Make[int32](s, 1)
		check(t, err)
		g, err := dev.Capture(func(s *device.Stream) error { return c.record(s, x.All()) })
		check(t, err)
		if got := f.EarlyNodes(); got != c.want {
			t.Errorf("%s: %d nodes may start early, want %d", name, got, c.want)
		}
		check(t, g.Launch(s))
		check(t, errors.Join(s.Synchronize(t.Context()), g.Close(), x.Close()))
		mustClose(t, dev)
	}
}

func TestDynamicSharedOfKernel(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	defer mustClose(t, dev)
	s, k := newStream(t, dev), devicetest.Greet()
	k.Dynamic = 100 << 10
	check(t, launch[int32](s, k, device.Cover(1, 1)))
	check(t, launch[int32](s, k, device.Cover(1, 1)))
	if n := f.Calls("cuFuncSetAttribute"); n != 1 {
		t.Errorf("the attribute was set %d times", n)
	}
	k.Dynamic = 300 << 10
	err := launch[int32](s, k, device.Cover(1, 1))
	wantError(t, err, device.ErrGrid, "307200 bytes of shared memory in a block, the device has 232448")
	if got := s.Synchronize(t.Context()); got != err {
		t.Errorf("Synchronize: %v", got)
	}
	f.Fail("cuFuncSetAttribute", 1, InvalidValue)
	k.Dynamic = 200 << 10
	wantError(t, launch[int32](s, k, device.Cover(1, 1)), InvalidValue, "cuda: cuFuncSetAttribute(greet, 204800)")
	wantError(t, s.Synchronize(t.Context()), InvalidValue, "")
	check(t, launch[int32](s, k, device.Cover(1, 1)))
}

func TestTooLargeTogether(t *testing.T) {
	f := newFake()
	f.Fail("cuLaunchKernelEx", 1, cudasys.CooperativeTooLarge)
	dev := open(t, f)
	s := newStream(t, dev)
	err := launch[int32](s, devicetest.Greet(), device.Grid{Blocks: device.Dim{X: 9999}, Block: device.Dim{X: 1024}, Cooperative: true})
	wantError(t, err, device.ErrGrid, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")
	if err := dev.Close(); !errors.Is(err, device.ErrGrid) {
		t.Errorf("Close: %v", err)
	}
}

func TestOccupancy(t *testing.T) {
	dev := open(t, newFake())
	defer mustClose(t, dev)
	k := devicetest.Multiply()
	for g, want := range map[device.Grid]device.Occupancy{
		{}:                          {Threads: 256, Blocks: 8, Cores: 132, Registers: 16},
		{Block: device.Dim{X: 128}}: {Threads: 128, Blocks: 16, Cores: 132, Registers: 16},
		{Block: device.Dim{X: 128}, Shared: 48 << 10}: {Threads: 128, Blocks: 4, Cores: 132, Registers: 16},
	} {
		if got, err := dev.Occupancy(k, g); got != want || err != nil {
			t.Errorf("%+v: %+v, %v, want %+v", g, got, err, want)
		}
	}
	if g, err := dev.Fit(k, 1000); g != device.Cover(1000, 256) || err != nil {
		t.Errorf("Fit: %+v, %v", g, err)
	}
	k = devicetest.Multiply()
	k.Block = device.Dim{X: 64}
	if g, err := dev.Fit(k, 1000); g.Blocks.X != 16 || g.Block != k.Block || err != nil {
		t.Errorf("Fit of a fixed block: %+v, %v", g, err)
	}
}

func TestPreload(t *testing.T) {
	f := newFake()
	f.Refuse(".entry sum", "no")
	dev := open(t, f)
	defer mustClose(t, dev)
	a, b, c := devicetest.Multiply(), devicetest.Poke(), devicetest.Sum()
	check(t, dev.Preload(a, b, a))
	if n := f.Calls("cuModuleLoadDataEx"); n != 2 {
		t.Errorf("%d modules were loaded", n)
	}
	wantError(t, dev.Preload(c, a), InvalidPTX, "kernel sum")
	check(t, multiply(newStream(t, dev), a, 10))
	if n := f.Calls("cuModuleLoadDataEx"); n != 3 {
		t.Errorf("%d modules were loaded", n)
	}
}
