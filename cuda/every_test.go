package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

// TestEveryFailure lets each driver call of a workload fail in turn: every time, there is an error,
// nothing leaks and nothing hangs.
func TestEveryFailure(t *testing.T) {
	t.Run("pool", func(t *testing.T) { everyFailure(t, cudafake.H200, 2) })
	t.Run("no pool", func(t *testing.T) {
		everyFailure(t, cudafake.Device{Major: 9, Memory: 1 << 28, NoPools: true}, 1)
	})
}

// everyFailure runs the workload on two devices. Of a function that is called often, it tries ever
// fewer calls: each step is an n-th of the call number.
func everyFailure(t *testing.T, device cudafake.Device, nth int) {
	fake := func() *cudafake.Fake {
		f := cudafake.New(device, device)
		f.Latency, f.Execute = 2, fakeKernel
		return f
	}
	// A run allocates tens of megabytes of garbage, more than the heap has in use.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	f := fake()
	if err := workload(f); err != nil {
		t.Fatalf("the workload fails without an injected failure: %v", err)
	}
	if live := f.Live(); live != (cudafake.Live{}) {
		t.Fatalf("the workload leaves %+v", live)
	}
	for function, n := range f.AllCalls() {
		if function == "cuDriverGetVersion" { // the version is for information only
			continue
		}
		for call := 1; call <= n; call = after(call, n, nth) {
			f := fake()
			f.Fail(function, call, cudasys.NotSupported)
			done := make(chan error, 1)
			go func() { done <- workload(f) }()
			var err error
			select {
			case err = <-done:
			case <-time.After(time.Minute):
				t.Fatalf("call %d of %s fails: the workload hangs", call, function)
			}
			left := f.Live()
			if f.Calls(function) >= call { // the number of events depends on the schedule
				left = leaked(left, function)
				if !errors.Is(err, cudasys.NotSupported) {
					t.Errorf("call %d of %s fails: got %v", call, function, err)
				}
			}
			if left != (cudafake.Live{}) {
				t.Errorf("call %d of %s fails: not freed: %+v", call, function, left)
			}
		}
	}
}

// after returns the number of the call to try after call.
func after(call, n, nth int) int {
	if raceEnabled && call < n { // under the race detector, only the first call and the last
		return n
	}
	return call + 1 + call/nth
}

// leaked returns the live objects, except those that the failed call of a function should have
// freed.
func leaked(l cudafake.Live, function string) cudafake.Live {
	switch function {
	case "cuCtxSetCurrent":
		return cudafake.Live{} // any of the objects may be one that the failed call should have freed
	case "cuStreamDestroy":
		l.Streams--
	case "cuEventDestroy":
		l.Events--
	case "cuMemFree", "cuMemFreeAsync":
		l.Allocations = 0
	case "cuMemFreeHost", "cuMemHostUnregister":
		l.Pinned = 0
	case "cuModuleUnload":
		l.Modules--
	case "cuMemPoolDestroy":
		l.Pools--
	case "cuGraphDestroy", "cuGraphExecDestroy":
		l.Graphs--
	case "cuDevicePrimaryCtxRelease":
		l.Contexts--
	}
	return l
}

// workload uses every feature of a device. It returns the errors of the calls, or an error if a
// result is wrong.
func workload(f *cudafake.Fake) error {
	dev, err := on(f, nil).openDevice(0)
	if err != nil {
		return err
	}
	other, err := on(f, nil).openDevice(1)
	if err != nil {
		return errors.Join(err, dev.Close())
	}
	err = errors.Join(workKernels(dev), workCopies(dev), workHost(dev), workGraph(dev), workBetween(dev, other))
	_, stats := dev.MemoryStats()
	return errors.Join(err, stats, dev.Trim(), other.Close(), dev.Close())
}

// scope is Device.Scope with an urgent stream that discards prints.
func scope(dev *device.Device, f func(s *device.Stream) error) error {
	s, err := dev.NewStreamWith(device.StreamOptions{Output: io.Discard, Priority: 3})
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Synchronize(context.Background()), s.Close())
}

func workKernels(dev *device.Device) error {
	return scope(dev, func(s *device.Stream) error {
		start, err := s.Record()
		if err != nil {
			return err
		}
		x, err := device.Make[int32](s, 5)
		if err != nil {
			return errors.Join(err, start.Close())
		}
		k := devicetest.Greet()
		_, occupied := dev.Occupancy(k, device.Grid{})
		err = errors.Join(occupied, multiply(s, devicetest.Multiply(), 10),
			launch[int32](s, k, device.Grid{Blocks: device.Dim{X: 2}, Block: device.Dim{X: 1}, Shared: 100 << 10, Cooperative: true}),
			device.Copy(s, x.Slice(0, 2), x.Slice(2, 4)), poke(s, devicetest.Poke(), x.All(), 4))
		end, recorded := s.Record()
		waited := s.Synchronize(context.Background())
		if waited == nil {
			err = errors.Join(err, errors.New("no fault"))
		} else if _, alone := waited.(*device.Fault); !alone {
			err = errors.Join(err, waited)
		}
		if recorded == nil {
			_, since := end.Since(start)
			err = errors.Join(err, since, end.Close())
		}
		return errors.Join(err, recorded, start.Close(), x.Close())
	})
}

// large is copied in several chunks.
var large = slices.Repeat([]byte{1, 2, 3, 4}, 600<<10)

func workCopies(dev *device.Device) error {
	return scope(dev, func(s *device.Stream) error {
		x, err := device.Upload(s, large)
		if err != nil {
			return err
		}
		got, small := make([]byte, len(large)), make([]byte, 100)
		b, p, err := device.MakePlane[int16](s, 10, 10)
		if err != nil {
			return errors.Join(err, x.Close())
		}
		fork, err := s.Fork()
		if err != nil {
			return errors.Join(err, x.Close(), b.Close())
		}
		err = errors.Join(device.Download(s, small, x.Slice(4, 104)), device.Download(s, got, x), device.Fill(s, p.All(), 300),
			device.Fill(s, device.View[float32](x.All()), 1.5), device.Fill(fork, x.Slice(0, 12), 9),
			device.UploadPlane(s, p, make([]int16, 100)), s.Join(fork), fork.Close(), b.Close(), x.Close(), s.Synchronize(context.Background()))
		if err == nil && (!bytes.Equal(got, large) || !bytes.Equal(small, large[:100])) {
			err = errors.New("a download is wrong")
		}
		return err
	})
}

func workHost(dev *device.Device) error {
	return scope(dev, func(s *device.Stream) error {
		mapped, err := device.NewMapped[int32](dev, 8)
		if err != nil {
			return err
		}
		registered, err := device.Register(dev, make([]int32, 8))
		if err != nil {
			return errors.Join(err, mapped.Close())
		}
		managed, err := device.NewManaged[int32](dev, 8)
		if err != nil {
			return errors.Join(err, mapped.Close(), registered.Close())
		}
		err = errors.Join(device.Advise(managed.All(), device.PreferHost), device.Prefetch(s, managed.All()),
			device.UploadPinned(s, managed.All(), registered.All()), poke(s, devicetest.Poke(), mapped.Mapped(), -1),
			device.DownloadPinned(s, registered.All(), mapped.Mapped()))
		return errors.Join(err, mapped.Close(), registered.Close(), managed.Close(), s.Synchronize(context.Background()))
	})
}

func workGraph(dev *device.Device) error {
	return scope(dev, func(s *device.Stream) error {
		x, err := device.Make[int32](s, 100)
		if err != nil {
			return err
		}
		k := devicetest.Poke()
		g, err := dev.Capture(func(s *device.Stream) error {
			own, err := device.Make[int32](s, 100)
			if err != nil {
				return err
			}
			return errors.Join(poke(s, k, x.All(), -1), device.Copy(s, own.All(), x.All()), own.Close(), device.Copy(s, x.Slice(0, 10), x.Slice(10, 20)), device.Fill(s, x.Slice(20, 30), 7),
				launch[int32](s, devicetest.Greet(), device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: 1}, Cooperative: true}))
		})
		if err != nil {
			return errors.Join(err, x.Close())
		}
		err = errors.Join(g.Launch(s), g.Update(g.Nodes()[0].Number, func(s *device.Stream) error { return poke(s, k, x.All(), -1) }), g.Launch(s), g.Close(), x.Close())
		return errors.Join(err, s.Synchronize(context.Background()))
	})
}

func workBetween(dev, other *device.Device) error {
	return scope(dev, func(s *device.Stream) error {
		return scope(other, func(o *device.Stream) error {
			a, err := device.Upload(o, []int32{1, 2, 3})
			if err != nil {
				return err
			}
			b, err := device.Make[int32](s, 3)
			if err != nil {
				return errors.Join(err, a.Close())
			}
			got := make([]int32, 3)
			err = errors.Join(device.CopyFrom(s, b.All(), o, a.All()), device.Download(s, got, b), a.Close(), b.Close(), s.Synchronize(context.Background()))
			if err == nil && !slices.Equal(got, []int32{1, 2, 3}) {
				err = fmt.Errorf("got %v from the other device", got)
			}
			return err
		})
	})
}
