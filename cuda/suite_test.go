package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// What every CUDA device must do: the tests below run over the fake driver and, where there
// is one, over a GPU.

func TestFakeDevice(t *testing.T) {
	testDevice(t, func(t *testing.T) *device.Device { return open(t, newFake()) })
}

func TestGPU(t *testing.T) {
	testDevice(t, func(t *testing.T) *device.Device {
		dev, err := Open(0)
		if err != nil {
			t.Skipf("no GPU to test on: %v", err)
		}
		return dev
	})
}

func testDevice(t *testing.T, open func(t *testing.T) *device.Device) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, dev *device.Device)
	}{
		{"info", testInfo},
		{"multiply", testMultiply},
		{"copies", testCopies},
		{"fault", testFault},
		{"prints", testPrints},
		{"too many prints", testLostPrints},
		{"two streams", testStreams},
		{"events", testEvents},
		{"goroutines", testGoroutines},
	} {
		t.Run(test.name, func(t *testing.T) {
			dev := open(t)
			test.run(t, dev)
			if err := dev.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

func newStream(t *testing.T, dev *device.Device) *device.Stream {
	t.Helper()
	s, err := dev.NewStream()
	check(t, err)
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testInfo(t *testing.T, dev *device.Device) {
	i := dev.Info()
	t.Log(i, i.Driver)
	if i.Kind != "cuda" || i.Name == "" || i.Memory < 1<<28 || i.Capability.Major < 7 || !strings.Contains(i.Driver, "CUDA 1") {
		t.Errorf("implausible: %+v", i)
	}
	if i.Limits.ThreadsPerBlock != 1024 || i.Limits.Grid != [3]int{1<<31 - 1, 65535, 65535} || i.Limits.Block != [3]int{1024, 1024, 64} {
		t.Errorf("implausible limits: %+v", i.Limits)
	}
}

func testMultiply(t *testing.T, dev *device.Device) {
	s := newStream(t, dev)
	check(t, multiply(s, multiplyKernel(), 1000))
}

// multiply multiplies n numbers and checks the products.
func multiply(s *device.Stream, k *device.Kernel, n int) error {
	x, y, got := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		x[i], y[i] = float32(i), 0.5
	}
	a, err := device.Upload(s, x)
	if err != nil {
		return err
	}
	b, err := device.Upload(s, y)
	if err != nil {
		return err
	}
	c, err := device.Make[float32](s, n)
	if err != nil {
		return err
	}
	if err := launch(s, k, device.Cover(n, 128), a.All(), b.All(), c.All()); err != nil {
		return err
	}
	if err := device.Download(s, got, c); err != nil {
		return err
	}
	if err := s.Synchronize(context.Background()); err != nil {
		return err
	}
	for i := range n {
		if want := float32(i) / 2; got[i] != want {
			return fmt.Errorf("product %d is %v, want %v", i, got[i], want)
		}
	}
	return errors.Join(a.Close(), b.Close(), c.Close())
}

func launch(s *device.Stream, k *device.Kernel, g device.Grid, args ...device.Slice[float32]) error {
	p := s.Plan(k, g)
	for _, a := range args {
		device.PutSlice(p, a)
	}
	return p.Launch()
}

func testCopies(t *testing.T, dev *device.Device) {
	s := newStream(t, dev)
	a, err := device.Upload(s, []int32{1, 2, 3, 4, 5})
	check(t, err)
	b, err := device.Make[int32](s, 5)
	check(t, err)
	check(t, device.Copy(s, b.Slice(1, 4), a.Slice(0, 3)))
	got := make([]int32, 5)
	check(t, device.Download(s, got, b))
	check(t, s.Synchronize(t.Context()))
	if want := [5]int32{0, 1, 2, 3, 0}; [5]int32(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
	empty, err := device.Make[int32](s, 0)
	check(t, err)
	check(t, errors.Join(a.Close(), b.Close(), empty.Close()))
}

func testFault(t *testing.T, dev *device.Device) {
	s := newStream(t, dev)
	k := faultKernel()
	x, err := device.Make[float32](s, 5)
	check(t, err)
	grid := device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: 6}}
	for range 2 { // the second time shows that the first was cleared
		check(t, launch(s, k, grid, x.All()))
		err = s.Synchronize(t.Context())
		fault, ok := errors.AsType[*device.Fault](err)
		if !ok {
			t.Fatalf("got %v, want a fault", err)
		}
		if want := "fault: kernels.go:12: index out of range [5] with length 5 (block 0,0,0 thread 5,0,0)"; fault.Error() != want {
			t.Errorf("got %q, want %q", fault, want)
		}
	}
	// The stream and the device live on.
	grid.Block.X = 5
	got := make([]float32, 5)
	check(t, launch(s, k, grid, x.All()))
	check(t, device.Download(s, got, x))
	check(t, s.Synchronize(t.Context()))
	if want := [5]float32{0, 1, 2, 3, 4}; [5]float32(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
	// A fault that nobody waited for comes with Close.
	grid.Block.X = 7
	check(t, launch(s, k, grid, x.All()))
	if _, ok := errors.AsType[*device.Fault](s.Close()); !ok {
		t.Error("Close hid a fault")
	}
}

func testPrints(t *testing.T, dev *device.Device) {
	var out bytes.Buffer
	s, err := dev.NewStreamTo(&out)
	check(t, err)
	k := printKernel()
	for range 2 {
		check(t, launch(s, k, device.Grid{Blocks: device.Dim{X: 2}, Block: device.Dim{X: 2}}))
		check(t, s.Synchronize(t.Context()))
	}
	want := strings.Repeat("thread 0 of block 0\nthread 1 of block 0\nthread 0 of block 1\nthread 1 of block 1\n", 2)
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", &out, want)
	}
}

func testLostPrints(t *testing.T, dev *device.Device) {
	var out bytes.Buffer
	s, err := dev.NewStreamTo(&out)
	check(t, err)
	k := printKernel()
	check(t, launch(s, k, device.Grid{Blocks: device.Dim{X: 100}, Block: device.Dim{X: 200}}))
	check(t, s.Synchronize(t.Context()))
	const room = printBytes / 56
	if n := strings.Count(out.String(), "thread"); n != room {
		t.Errorf("%d prints, want %d", n, room)
	}
	if want := fmt.Sprintf("(%d more prints found no room)\n", 20000-room); !strings.HasSuffix(out.String(), want) {
		t.Errorf("the output does not end with %q", want)
	}
	out.Reset()
	check(t, launch(s, k, device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: 1}}))
	check(t, s.Synchronize(t.Context()))
	if want := "thread 0 of block 0\n"; out.String() != want {
		t.Errorf("after a full buffer: got %q, want %q", &out, want)
	}
}

func testStreams(t *testing.T, dev *device.Device) {
	k := faultKernel()
	good, bad := newStream(t, dev), newStream(t, dev)
	x, err := device.Make[float32](good, 4)
	check(t, err)
	check(t, good.Synchronize(t.Context()))
	check(t, launch(good, k, device.Cover(4, 4), x.All()))
	check(t, launch(bad, k, device.Cover(8, 8), x.All()))
	if err := good.Synchronize(t.Context()); err != nil {
		t.Errorf("a stream got another's fault: %v", err)
	}
	if _, ok := errors.AsType[*device.Fault](bad.Synchronize(t.Context())); !ok {
		t.Error("a stream lost its fault")
	}
	check(t, errors.Join(good.Close(), bad.Close()))
}

func testEvents(t *testing.T, dev *device.Device) {
	s := newStream(t, dev)
	start, err := s.Record()
	check(t, err)
	check(t, multiply(s, multiplyKernel(), 1<<16))
	end, err := s.Record()
	check(t, err)
	check(t, s.Synchronize(t.Context()))
	if d, err := end.Since(start); err != nil || d <= 0 || d > time.Minute {
		t.Errorf("got %v, %v", d, err)
	}
	check(t, errors.Join(start.Close(), end.Close()))
	if err := end.Close(); err == nil {
		t.Error("closing an event twice is no error")
	}
}

// testGoroutines has goroutines with streams of their own, and a few that share one.
func testGoroutines(t *testing.T, dev *device.Device) {
	k := multiplyKernel()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			s, err := dev.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			for range 4 {
				if err := multiply(s, k, 100+i); err != nil {
					t.Error(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	shared := newStream(t, dev)
	for range 8 {
		wg.Go(func() {
			if err := multiply(shared, k, 77); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
