package cpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// busy is a device with a kernel that runs until end is closed.
type busy struct {
	backend *backend
	dev     *device.Device
	stream  *device.Stream
	buffer  *device.Buffer[int32]
	end     chan struct{}
	result  chan error // of each launch
}

func newBusy(t *testing.T) *busy {
	t.Helper()
	b := newBackend()
	b.patience = 20 * time.Millisecond
	d := &busy{backend: b, dev: device.New(b), end: make(chan struct{}), result: make(chan error, 3)}
	d.launch(t)
	return d
}

// launch makes a stream and a buffer, and launches a kernel with them that runs until end is closed.
func (d *busy) launch(t *testing.T) {
	t.Helper()
	var err error
	if d.stream, err = d.dev.NewStream(); err != nil {
		t.Fatal(err)
	}
	if d.buffer, err = device.Make[int32](d.stream, 1000); err != nil {
		t.Fatal(err)
	}
	running := make(chan struct{})
	k := &driver.Kernel{
		Name: "forever", File: "k.go", Line: 30,
		Params: []driver.Param{{Name: "x", Size: 24, Elem: 4}}, ParamBytes: 24 + driver.HiddenBytes,
		Native: func(ts *gpu.Threads, args unsafe.Pointer) {
			close(running)
			<-d.end
			clear(*(*[]int32)(args)) // the kernel reads the slice from its parameters only now
		},
	}
	p := d.stream.Plan(k, device.Cover(1, 1))
	d.buffer.All().Pass(p)
	go func() { d.result <- p.Launch() }()
	<-running
}

// TestSynchronizeBesideKernel waits for a stream whose kernel does not end, until the context is
// done.
func TestSynchronizeBesideKernel(t *testing.T) {
	d := newBusy(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := d.stream.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Synchronize: %v, want the error of its context", err)
	}
	other, err := d.dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Synchronize(t.Context()); err != nil {
		t.Errorf("another stream: %v", err)
	}
	close(d.end)
	if err := <-d.result; err != nil {
		t.Errorf("the launch: %v", err)
	}
	if err := d.stream.Synchronize(t.Context()); err != nil {
		t.Errorf("after the kernel: %v", err)
	}
	if err := d.dev.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestCloseBesideKernel closes a device whose kernel does not end. The kernel keeps its memory.
func TestCloseBesideKernel(t *testing.T) {
	d := newBusy(t)
	err := d.dev.Close()
	if !errors.Is(err, device.ErrRunning) || !strings.Contains(err.Error(), "kernel forever (k.go:30) is still running") {
		t.Errorf("Close: %v", err)
	}
	runtime.GC()
	if err := d.dev.Close(); !errors.Is(err, device.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	close(d.end)
	if err := <-d.result; err != nil {
		t.Errorf("the launch: %v", err)
	}
}

// TestCloseBesideKernels closes a device with several kernels that do not end. It waits for all of them together,
// as long as documented.
func TestCloseBesideKernels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newBusy(t)
		d.backend.patience = closePatience
		for range 2 {
			d.launch(t)
		}
		start := time.Now()
		err := d.dev.Close()
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("Close took %v, want 5s", took)
		}
		if n := strings.Count(fmt.Sprint(err), "kernel forever (k.go:30) is still running"); n != 3 {
			t.Errorf("Close names %d kernels, want 3: %v", n, err)
		}
		close(d.end)
		for range 3 {
			if err := <-d.result; err != nil {
				t.Errorf("a launch: %v", err)
			}
		}
	})
}

// TestCloseAfterKernel closes a stream while a kernel runs that ends soon.
func TestCloseAfterKernel(t *testing.T) {
	d := newBusy(t)
	d.backend.patience = time.Minute
	time.AfterFunc(time.Millisecond, func() { close(d.end) })
	if err := errors.Join(d.stream.Close(), <-d.result, d.dev.Close()); err != nil {
		t.Error(err)
	}
}
