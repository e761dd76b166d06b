package cuda

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

func mustClose(t *testing.T, dev *device.Device) {
	t.Helper()
	if err := dev.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestOutOfMemory(t *testing.T) {
	dev := open(t, newFake())
	defer mustClose(t, dev)
	s := newStream(t, dev)
	_, err := device.Make[float32](s, 1<<30)
	if want := "device: no room for 4 GiB: cuda: cuMemAllocFromPoolAsync(4 GiB): CUDA_ERROR_OUT_OF_MEMORY; open buffers hold 0 bytes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !errors.Is(err, OutOfMemory) || errors.Is(err, InvalidValue) {
		t.Errorf("%v does not match its status alone", err)
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Call != "cuMemAllocFromPoolAsync" || e.Detail != "4 GiB" || e.Status != OutOfMemory {
		t.Errorf("got %#v", e)
	}
	if !errors.Is(err, device.ErrMemory) {
		t.Errorf("%v does not match device.ErrMemory", err)
	}
	check(t, multiply(s, devicetest.Multiply(), 10)) // the device is still usable
}

func TestRefusedPTX(t *testing.T) {
	f := newFake()
	f.Refuse("mul.rn.f32", "ptxas application ptx input, line 28; error   : Unknown instruction\n")
	dev := open(t, f)
	defer mustClose(t, dev)
	s := newStream(t, dev)
	err := multiply(s, devicetest.Multiply(), 10)
	want := "cuda: the driver refused the code of kernel multiply for compute capability 7.0: CUDA_ERROR_INVALID_PTX " +
		"(this is a bug in the compiler that generated the code; please report it)\n" +
		"ptxas application ptx input, line 28; error   : Unknown instruction"
	r, ok := errors.AsType[*RefusedError](err)
	if !ok || r.Error() != want || r.Kernel != "multiply" || r.Target.Major != 7 || !errors.Is(err, InvalidPTX) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	check(t, s.Synchronize(t.Context()))
}

func TestRefusedWithoutLog(t *testing.T) {
	for status, advice := range map[Status]string{
		UnsupportedPTX:      "install a newer driver",
		JITCompilerNotFound: "libnvidia-ptxjitcompiler.so.1",
		NoBinaryForGPU:      "for another GPU",
	} {
		f := newFake()
		f.Fail("cuModuleLoadDataEx", 1, status)
		dev := open(t, f)
		s := newStream(t, dev)
		wantError(t, multiply(s, devicetest.Multiply(), 10), status, advice)
		check(t, multiply(s, devicetest.Multiply(), 10))
		mustClose(t, dev)
	}
}

func TestLoadIsTriedAgain(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	defer mustClose(t, dev)
	s, k := newStream(t, dev), devicetest.Multiply()
	f.Fail("cuModuleLoadDataEx", 1, OutOfMemory)
	wantError(t, multiply(s, k, 10), OutOfMemory, "cuda: cuModuleLoadDataEx(multiply): CUDA_ERROR_OUT_OF_MEMORY")
	f.Fail("cuModuleGetFunction", 1, cudasys.NotFound)
	wantError(t, multiply(s, k, 10), cudasys.NotFound, "cuda: cuModuleGetFunction(multiply): CUDA_ERROR_NOT_FOUND")
	check(t, multiply(s, k, 10))
	check(t, multiply(newStream(t, dev), k, 10))
	if n := f.Calls("cuModuleLoadDataEx"); n != 2 {
		t.Errorf("the module was loaded %d times, want 2", n)
	}
}

func TestNoVariant(t *testing.T) {
	old := cudafake.Device{Name: "Fake P100", Bus: "0000:01:00.0", Major: 6, Minor: 0, Memory: 1 << 28}
	dev := open(t, cudafake.New(old))
	defer mustClose(t, dev)
	k := devicetest.Multiply()
	k.Variants = append([]driver.Variant{{Target: device.Capability{Major: 9}, Exact: true}}, k.Variants...)
	s := newStream(t, dev)
	wantError(t, multiply(s, k, 10), device.ErrNoVariant, "cuda: multiply: no variant of the kernel fits the device: "+
		"Fake P100 has compute capability 6.0, the kernel needs 9.0 exactly, or 7.0 or later")
	k = devicetest.Multiply()
	k.Variants = nil
	wantError(t, multiply(s, k, 10), device.ErrNoVariant, "the kernel needs a CPU: it has no code for GPUs")
}

func TestLaunchFails(t *testing.T) {
	f := newFake()
	f.Fail("cuLaunchKernel", 1, LaunchOutOfResources)
	dev := open(t, f)
	defer mustClose(t, dev)
	wantError(t, multiply(newStream(t, dev), devicetest.Multiply(), 1000), LaunchOutOfResources,
		"cuda: cuLaunchKernel(multiply, [8 1 1] blocks of [128 1 1] threads): CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
}

func TestTwoDevicesShareAContext(t *testing.T) {
	f := newFake()
	dev, other := open(t, f), open(t, f)
	s := newStream(t, other)
	check(t, multiply(newStream(t, dev), devicetest.Multiply(), 10))
	mustClose(t, dev)
	check(t, multiply(s, devicetest.Multiply(), 10))
	mustClose(t, other)
}

// TestBackendAfterClose tests the backend alone; package device refuses all these calls before they
// reach it.
func TestBackendAfterClose(t *testing.T) {
	f := newFake()
	b := bare(t, f)
	q, err := b.NewQueue()
	check(t, err)
	mem, err := b.Allocate(100)
	check(t, err)
	mark, err := q.Mark()
	check(t, err)
	check(t, b.Close())
	wantNothingLive(t, f)
	_, newQueue := b.NewQueue()
	_, allocate := b.Allocate(1)
	wait := q.Wait(t.Context())
	_, marked := q.Mark()
	_, since := mark.Since(mark)
	for what, err := range map[string]error{
		"closing": b.Close(), "a queue": newQueue, "memory": allocate, "Wait": wait, "Mark": marked, "Since": since,
		"freeing": mem.Free(), "freeing a mark": mark.Free(), "closing a queue": q.Close(),
		"upload": q.Upload(mem.Address(), []byte{1}), "download": q.Download([]byte{1}, mem.Address()),
		"copy": q.Copy(mem.Address(), mem.Address()+10, 10), "zero": q.Zero(mem.Address(), 10),
	} {
		if !errors.Is(err, device.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}

func TestLostDevice(t *testing.T) {
	f := newFake()
	f.Execute = func(l *cudafake.Launch) cudasys.Status { return cudasys.IllegalAddress }
	dev, err := on(f, nil).openDevice(0)
	check(t, err)
	s := newStream(t, dev)
	a, err := device.Make[float32](s, 10)
	check(t, err)
	start := func() error {
		return launch(s, devicetest.Multiply(), device.Cover(10, 10), a.All(), a.All(), a.All())
	}
	check(t, start())
	lost := func(what string, err error) {
		t.Helper()
		wantError(t, err, ErrLost, "cuda: cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS (a kernel used an address that is not allocated): "+
			"the device was lost; its memory is lost; restart the program")
		if !errors.Is(err, IllegalAddress) {
			t.Errorf("%s: %v does not match its cause", what, err)
		}
	}
	lost("Synchronize", s.Synchronize(t.Context()))
	calls := f.Calls("cuCtxSetCurrent")
	_, err = device.Make[float32](s, 10)
	lost("Make", err)
	lost("launch", start())
	lost("Synchronize", s.Synchronize(t.Context()))
	lost("Download", device.Download(s, make([]float32, 10), a))
	_, err = dev.NewStream()
	lost("NewStream", err)
	lost("closing a buffer", a.Close())
	lost("closing the device", dev.Close())
	if n := f.Calls("cuCtxSetCurrent"); n != calls {
		t.Errorf("the driver was called %d times for a lost device", n-calls)
	}
	if live := f.Live(); live.Contexts != 0 {
		t.Errorf("the context was not released: %+v", live)
	}
}

func TestCancelledWait(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	defer mustClose(t, dev)
	s := newStream(t, dev)
	x, err := device.Make[int32](s, 5)
	check(t, err)
	check(t, poke(s, devicetest.Poke(), x.All(), 4))
	got := make([]int32, 5)
	check(t, device.Download(s, got, x))
	f.Hold(true)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := s.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline's error", err)
	}
	f.Hold(false)
	if _, ok := errors.AsType[*device.Fault](s.Synchronize(t.Context())); !ok {
		t.Error("a canceled wait lost the fault")
	}
	if want := [5]int32{0, 1, 2, 3, 0}; [5]int32(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestQueueCloseReturnsFault(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	s := newStream(t, dev)
	x, err := device.Make[int32](s, 5)
	check(t, err)
	check(t, poke(s, devicetest.Poke(), x.All(), 4))
	if _, ok := errors.AsType[*device.Fault](dev.Close()); !ok {
		t.Error("closing the device hid a fault")
	}
}

func TestDamagedRecords(t *testing.T) {
	for what, c := range map[string]struct {
		damage func(r []byte)
		want   string
	}{
		"no size":   {func(r []byte) { little.PutUint32(r[driver.RecordSize:], 0) }, "left no record"},
		"no kernel": {func(r []byte) { little.PutUint32(r[driver.RecordKernel:], 99) }, "unknown kernel"},
		"no site":   {func(r []byte) { little.PutUint32(r[driver.RecordSite:], 99) }, "unknown place"},
	} {
		f := newFake()
		f.Execute = func(l *cudafake.Launch) cudasys.Status {
			s := fakeKernel(l)
			t := fakeThread{Launch: l}
			c.damage(t.Bytes(little.Uint64(t.environment()[driver.EnvRecord:]), driver.RecordMax))
			return s
		}
		dev := open(t, f)
		s := newStream(t, dev)
		x, err := device.Make[int32](s, 1)
		check(t, err)
		check(t, poke(s, devicetest.Poke(), x.All(), 0))
		if err := s.Synchronize(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", what, err, c.want)
		}
		mustClose(t, dev)
	}
}
