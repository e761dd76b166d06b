package cudafake_test

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

// started returns an initialized driver with its first device's context current.
func started(t *testing.T, f *cudafake.Fake) *cudasys.Driver {
	t.Helper()
	d := f.Driver()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	var c cudasys.Context
	want(t, cudasys.Success, d.Init(0), d.DevicePrimaryCtxRetain(&c, 0), d.CtxSetCurrent(c))
	return d
}

func want(t *testing.T, s cudasys.Status, got ...cudasys.Status) {
	t.Helper()
	for i, g := range got {
		if g != s {
			t.Errorf("call %d: %v, want %v", i, g, s)
		}
	}
}

func TestContextIsOfAThread(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("threads cannot be distinguished on " + runtime.GOOS)
	}
	d := started(t, cudafake.New(cudafake.H200))
	other := make(chan cudasys.Status)
	go func() { // on another thread, because this goroutine is locked to its own
		var p uintptr
		other <- d.MemAlloc(&p, 8)
	}()
	want(t, cudasys.InvalidContext, <-other)
	var p uintptr
	want(t, cudasys.Success, d.MemAlloc(&p, 8), d.MemFree(p))
	want(t, cudasys.InvalidValue, d.MemFree(p))
}

func TestNothingBeforeInit(t *testing.T) {
	d := cudafake.New(cudafake.H200).Driver()
	var n int32
	want(t, cudasys.NotInitialized, d.DeviceGetCount(&n))
	want(t, cudasys.NoDevice, cudafake.New().Driver().Init(0))
}

func TestWorkWaitsForQuery(t *testing.T) {
	f := cudafake.New(cudafake.H200)
	f.Latency = 1
	d := started(t, f)
	var s cudasys.Stream
	var p uintptr
	want(t, cudasys.Success, d.StreamCreateWithPriority(&s, 0, 0), d.MemAlloc(&p, 4))
	var pinned unsafe.Pointer
	want(t, cudasys.Success, d.MemHostAlloc(&pinned, 4, 0))
	host, back := []byte{1, 2, 3, 4}, unsafe.Slice((*byte)(pinned), 4)
	clear(back)
	want(t, cudasys.Success, d.MemcpyHtoDAsync(p, host, s), d.MemcpyDtoHAsync(back, p, s))
	clear(host)
	want(t, cudasys.NotReady, d.StreamQuery(s))
	if !slices.Equal(back, make([]byte, 4)) {
		t.Errorf("a copy was done before the stream was ready: %v", back)
	}
	want(t, cudasys.Success, d.StreamQuery(s))
	if !slices.Equal(back, []byte{1, 2, 3, 4}) {
		t.Errorf("got %v", back)
	}
	want(t, cudasys.InvalidValue, d.MemcpyDtoHAsync(make([]byte, 5), p, s), d.MemsetD8Async(p+1, 0, 4, s))
	if live := f.Live(); live != (cudafake.Live{Contexts: 1, Streams: 1, Allocations: 1, Pinned: 1}) {
		t.Errorf("live: %+v", live)
	}
}

func TestFail(t *testing.T) {
	f := cudafake.New(cudafake.H200)
	d := started(t, f)
	var p uintptr
	f.Fail("cuMemAlloc", 2, cudasys.OutOfMemory)
	want(t, cudasys.Success, d.MemAlloc(&p, 8))
	want(t, cudasys.OutOfMemory, d.MemAlloc(&p, 8))
	want(t, cudasys.Success, d.MemAlloc(&p, 8))
	f.Fail("cuMemAlloc", 0, cudasys.NotSupported)
	want(t, cudasys.NotSupported, d.MemAlloc(&p, 8), d.MemAlloc(&p, 8))
	if n := f.Calls("cuMemAlloc"); n != 5 {
		t.Errorf("%d calls, want 5", n)
	}
}

func TestModules(t *testing.T) {
	f := cudafake.New(cudafake.H200)
	f.Refuse("bogus", "line 1: bogus")
	d := started(t, f)
	var m cudasys.Module
	log := new(cudasys.Log)
	want(t, cudasys.InvalidImage, d.ModuleLoadDataEx(&m, []byte(".entry k()"), log))
	want(t, cudasys.InvalidPTX, d.ModuleLoadDataEx(&m, []byte("bogus\x00"), log))
	if said := string(log.Error[:14]); said != "line 1: bogus\x00" {
		t.Errorf("log %q", said)
	}
	want(t, cudasys.Success, d.ModuleLoadDataEx(&m, []byte(".visible .entry k(.param .align 8 .b8 k_params[16])\x00"), log))
	var fn cudasys.Function
	want(t, cudasys.NotFound, d.ModuleGetFunction(&fn, m, []byte("other\x00")))
	want(t, cudasys.Success, d.ModuleGetFunction(&fn, m, []byte("k\x00")), d.ModuleUnload(m))
	want(t, cudasys.InvalidHandle, d.ModuleUnload(m))
}

func TestPageableDownloadBlocks(t *testing.T) {
	f := cudafake.New(cudafake.H200)
	f.Latency = 5
	d := started(t, f)
	var s cudasys.Stream
	var p uintptr
	want(t, cudasys.Success, d.StreamCreateWithPriority(&s, 0, 0), d.MemAlloc(&p, 4), d.MemsetD8Async(p, 7, 4, s))
	back := make([]byte, 4)
	want(t, cudasys.Success, d.MemcpyDtoHAsync(back, p, s))
	if f.Blocked() != 1 || !slices.Equal(back, []byte{7, 7, 7, 7}) {
		t.Errorf("%d calls blocked, got %v", f.Blocked(), back)
	}
}

func TestStreamWaitsForEvent(t *testing.T) {
	f := cudafake.New(cudafake.H200)
	d := started(t, f)
	var first, second cudasys.Stream
	var e cudasys.Event
	var p, q uintptr
	want(t, cudasys.Success, d.StreamCreateWithPriority(&first, 0, 0), d.StreamCreateWithPriority(&second, 0, -1),
		d.MemAlloc(&p, 4), d.MemAlloc(&q, 4), d.EventCreate(&e, 0),
		d.MemsetD32Async(p, 1, 1, first), d.EventRecord(e, first), d.MemsetD32Async(p, 2, 1, first),
		d.StreamWaitEvent(second, e, 0), d.MemcpyDtoDAsync(q, p, 4, second), d.StreamQuery(second), d.StreamQuery(first))
	back := make([]byte, 4)
	want(t, cudasys.Success, d.MemcpyDtoHAsync(back, q, second))
	if !slices.Equal(back, []byte{1, 0, 0, 0}) {
		t.Errorf("got %v: the second stream did not run the work after the event", back)
	}
}

func TestPoolFreesInOrder(t *testing.T) {
	f := cudafake.New(cudafake.Device{Major: 9, Memory: 1000})
	d := started(t, f)
	var s cudasys.Stream
	var pool cudasys.Pool
	props := &cudasys.PoolProps{AllocType: cudasys.PoolPinned, LocationType: cudasys.PoolOnDevice}
	var p, q uintptr
	want(t, cudasys.Success, d.StreamCreateWithPriority(&s, 0, 0), d.MemPoolCreate(&pool, props),
		d.MemAllocFromPoolAsync(&p, 800, pool, s), d.MemsetD8Async(p, 1, 800, s), d.MemFreeAsync(p, s))
	want(t, cudasys.InvalidValue, d.MemFreeAsync(p, s))
	want(t, cudasys.OutOfMemory, d.MemAllocFromPoolAsync(&q, 800, pool, s))
	want(t, cudasys.Success, d.StreamQuery(s), d.MemAllocFromPoolAsync(&q, 800, pool, s))
	want(t, cudasys.InvalidValue, d.MemsetD8Async(p, 1, 800, s))
	var used uint64
	want(t, cudasys.Success, d.MemPoolGetAttribute(pool, cudasys.PoolUsedCurrent, &used))
	if used != 800 {
		t.Errorf("%d bytes are used", used)
	}
}

func TestWorkOnFreedMemory(t *testing.T) {
	d := started(t, cudafake.New(cudafake.H200))
	var s, other cudasys.Stream
	var pool cudasys.Pool
	props := &cudasys.PoolProps{AllocType: cudasys.PoolPinned, LocationType: cudasys.PoolOnDevice}
	var p uintptr
	want(t, cudasys.Success, d.StreamCreateWithPriority(&s, 0, 0), d.StreamCreateWithPriority(&other, 0, 0), d.MemPoolCreate(&pool, props),
		d.MemAllocFromPoolAsync(&p, 8, pool, s), d.MemsetD8Async(p, 1, 8, other), d.MemFreeAsync(p, s), d.StreamQuery(s))
	want(t, cudasys.IllegalAddress, d.StreamQuery(other))
}
