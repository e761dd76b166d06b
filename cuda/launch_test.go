package cuda

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

func TestLaunchDoesNotAllocate(t *testing.T) {
	f := newFake()
	f.Execute = nil // the fake allocates memory for kernels that it executes
	dev := open(t, f)
	defer mustClose(t, dev)
	s := newStream(t, dev)
	a, err := device.Make[float32](s, 10)
	check(t, err)
	x, err := device.Make[int32](s, 10)
	check(t, err)
	plain, faulting, grid := devicetest.Multiply(), devicetest.Poke(), device.Cover(10, 32)
	allocs := testing.AllocsPerRun(100, func() {
		p := s.Plan(plain, grid)
		a.All().Pass(p)
		a.All().Pass(p)
		a.All().Pass(p)
		if err := p.Launch(); err != nil {
			t.Error(err)
		}
		if err := poke(s, faulting, x.All(), -1); err != nil {
			t.Error(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for two launches, want 0", allocs)
	}
}

// TestLaunchesWaitInGo makes more launches than the driver accepts without blocking the thread.
func TestLaunchesWaitInGo(t *testing.T) {
	f := newFake()
	f.Execute = nil
	dev := open(t, f)
	defer mustClose(t, dev)
	s, k := newStream(t, dev), devicetest.Greet()
	f.Hold(true)
	const all = 3000
	done := make(chan error, 1)
	go func() {
		for range all {
			if err := launch[int32](s, k, device.Cover(1, 1)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	n := 0
	for last := -1; n < 500 || n != last; n = f.Calls("cuLaunchKernel") { // until the number no longer grows
		last = n
		select {
		case err := <-done:
			t.Fatalf("%d launches did not wait: %v", all, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	if n > 1000 {
		t.Errorf("%d launches are pending", n)
	}
	f.Hold(false)
	check(t, <-done)
	if n := f.Calls("cuLaunchKernel"); n != all {
		t.Errorf("%d launches, want %d", n, all)
	}
}

func TestLaunchArguments(t *testing.T) {
	var launches []cudafake.Launch
	f := newFake()
	f.Execute = func(l *cudafake.Launch) cudasys.Status {
		launches = append(launches, *l)
		return cudasys.Success
	}
	dev := open(t, f)
	defer mustClose(t, dev)
	s := newStream(t, dev)
	x, err := device.Make[int32](s, 100)
	check(t, err)
	check(t, launch[int32](s, devicetest.Greet(), device.Grid{Blocks: device.Dim{X: 3, Y: 2}, Block: device.Dim{X: 4, Z: 5}}))
	check(t, poke(s, devicetest.Poke(), x.Slice(10, 80), 7))
	check(t, s.Synchronize(t.Context()))
	if len(launches) != 2 {
		t.Fatalf("%d launches, want 2", len(launches))
	}
	first, second := launches[0], launches[1]
	if first.Kernel != "greet" || first.Grid != [3]uint32{3, 2, 1} || first.Block != [3]uint32{4, 1, 5} {
		t.Errorf("got %s with %v blocks of %v", first.Kernel, first.Grid, first.Block)
	}
	env := little.Uint64(first.Params)
	if l, k := little.Uint32(first.Params[8:]), little.Uint32(first.Params[12:]); env == 0 || l != 0 || k != 0 {
		t.Errorf("hidden parameters of the first launch: environment %#x, launch %d, kernel %d", env, l, k)
	}
	if n := len(second.Params); n != 56 || second.Kernel != "poke" {
		t.Fatalf("%s with %d bytes of parameters", second.Kernel, n)
	}
	var words []uint64
	for i := range 7 {
		words = append(words, little.Uint64(second.Params[8*i:]))
	}
	if want := []uint64{words[0], 70, 70, 7, 70, env, 1<<32 | 1}; words[0] == 0 || !slices.Equal(words, want) {
		t.Errorf("parameters are %v, want %v", words, want)
	}
}

func TestPlainKernelsNeedNoEnvironment(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	defer mustClose(t, dev)
	s := newStream(t, dev)
	check(t, multiply(s, devicetest.Multiply(), 10))
	if n := f.Calls("cuMemAlloc"); n != 0 {
		t.Errorf("a kernel without sites made %d environments", n)
	}
	if n := f.Calls("cuMemcpyDtoHAsync"); n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}
}

// TestGoroutines runs many goroutines, on streams of their own and on a common one, while devices
// are opened and closed.
func TestGoroutines(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	defer mustClose(t, dev)
	k, common := devicetest.Multiply(), newStream(t, dev)
	var running sync.WaitGroup
	for i := range 32 {
		running.Go(func() {
			s, err := dev.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			for _, err := range []error{multiply(s, k, 100+i), multiply(common, k, 77), s.Close()} {
				if err != nil {
					t.Error(err)
				}
			}
		})
		running.Go(func() {
			other, err := on(f, nil).openDevice(0)
			if err != nil {
				t.Error(err)
				return
			}
			s, err := other.NewStream()
			if err == nil {
				err = multiply(s, k, 50)
			}
			if err != nil {
				t.Error(err)
			}
			if err := other.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
}

func BenchmarkFakeLaunch(b *testing.B) {
	f := newFake()
	f.Execute = nil
	benchmarkLaunch(b, open(b, f))
}

// benchmarkLaunch launches a kernel with three slice parameters and no work.
func benchmarkLaunch(b *testing.B, dev *device.Device) {
	s, k, grid := newStream(b, dev), devicetest.Multiply(), device.Cover(1, 32)
	a, err := device.Make[float32](s, 0)
	check(b, err)
	b.ReportAllocs()
	for b.Loop() {
		p := s.Plan(k, grid)
		a.All().Pass(p)
		a.All().Pass(p)
		a.All().Pass(p)
		check(b, p.Launch())
	}
	check(b, s.Synchronize(b.Context()))
	check(b, dev.Close())
}

// TestCoarseLaunches checks that only launches with enough blocks for all multiprocessors use a
// coarse variant.
func TestCoarseLaunches(t *testing.T) {
	f := newFake()
	var grids []uint32
	f.Execute = func(l *cudafake.Launch) cudasys.Status {
		grids = append(grids, l.Grid[0])
		return cudasys.Success
	}
	dev := open(t, f)
	s := newStream(t, dev)
	k := emptyKernel(0)
	coarse := k.Variants[0]
	coarse.Coarse, coarse.Narrow = 4, true
	coarse.PTX = &driver.Text{Code: strings.Replace(coarse.PTX.String(), "p[16]", "p[24]", 1)}
	k.Variants = append([]driver.Variant{coarse}, k.Variants...)
	for _, always := range []bool{false, true} {
		dev.CoarsenAlways(always)
		for _, blocks := range []int{1, 4*132 - 1, 4 * 132, 1000} {
			check(t, s.Plan(k, device.Cover(blocks*32, 32)).Launch())
		}
	}
	check(t, s.Synchronize(t.Context()))
	if want := []uint32{1, 527, 132, 250, 1, 132, 132, 250}; !slices.Equal(grids, want) {
		t.Errorf("grids of %v blocks, want %v", grids, want)
	}
	check(t, s.Close())
	check(t, dev.Close())
}

// TestClosedBetween closes a buffer after it became an argument and before the launch.
func TestClosedBetween(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	defer mustClose(t, dev)
	s := newStream(t, dev)
	x, err := device.Make[float32](s, 8)
	check(t, err)
	p := s.Plan(emptyKernel(1), device.Cover(1, 32))
	x.All().Pass(p)
	check(t, x.Close())
	const want = "device: empty1: a buffer among the arguments is closed"
	if err := p.Launch(); !errors.Is(err, device.ErrClosed) || err.Error() != want {
		t.Errorf("the launch returned %v, want %s", err, want)
	}
	if err := s.Synchronize(t.Context()); !errors.Is(err, device.ErrClosed) {
		t.Errorf("Synchronize returned %v", err)
	}
	if n := f.Calls("cuLaunchKernel"); n != 0 {
		t.Errorf("the kernel was launched %d times", n)
	}
}

// TestCloseWhileLaunching closes a buffer at random moments during launches that use it: each
// launch is refused, or runs while the memory exists, which the fake checks.
func TestCloseWhileLaunching(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	defer mustClose(t, dev)
	k, s, refused := devicetest.Multiply(), newStream(t, dev), 0
	for range 500 {
		x, err := device.Make[float32](s, 40)
		check(t, err)
		closed := make(chan error, 1)
		go func() { closed <- x.Close() }()
		for range 5 {
			p := s.Plan(k, device.Cover(40, 32))
			for range 3 {
				x.All().Pass(p)
			}
			runtime.Gosched()
			if err := p.Launch(); errors.Is(err, device.ErrClosed) {
				refused++
				break
			}
			check(t, err)
		}
		check(t, <-closed)
		if err := s.Synchronize(t.Context()); err != nil && !errors.Is(err, device.ErrClosed) {
			t.Fatal(err)
		}
	}
	t.Logf("%d launches of at most 2500 were refused", refused)
}
