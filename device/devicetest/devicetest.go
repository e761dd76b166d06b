package devicetest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
)

// TestBackend tests the devices that the function open returns. It opens several devices; most of
// the tests use the first one.
func TestBackend(t *testing.T, open func() (*device.Device, error)) {
	r := &rig{open: open, device: opened(t, open)}
	for _, test := range []struct {
		name string
		run  func(*rig, *testing.T)
	}{
		{"Info", (*rig).testInfo},
		{"RoundTrip", (*rig).testRoundTrip},
		{"UploadTakesACopy", (*rig).testUploadTakesACopy},
		{"MakeIsZero", (*rig).testMakeIsZero},
		{"Slices", (*rig).testSlices},
		{"Copy", (*rig).testCopy},
		{"TransferErrors", (*rig).testTransferErrors},
		{"MakeErrors", (*rig).testMakeErrors},
		{"Multiply", (*rig).testMultiply},
		{"Sum", (*rig).testSum},
		{"Where", (*rig).testWhere},
		{"ArgumentErrors", (*rig).testArgumentErrors},
		{"GridErrors", (*rig).testGridErrors},
		{"EmptyLaunches", (*rig).testEmptyLaunches},
		{"None", (*rig).testNone},
		{"Mismatch", (*rig).testMismatch},
		{"Order", (*rig).testOrder},
		{"TwoStreams", (*rig).testTwoStreams},
		{"Goroutines", (*rig).testGoroutines},
		{"ErrorsStick", (*rig).testErrorsStick},
		{"Context", (*rig).testContext},
		{"Events", (*rig).testEvents},
		{"Fault", (*rig).testFault},
		{"FaultIsReportedOnce", (*rig).testFaultIsReportedOnce},
		{"Prints", (*rig).testPrints},
		{"LostPrints", (*rig).testLostPrints},
		{"Pinned", (*rig).testPinned},
		{"PinnedErrors", (*rig).testPinnedErrors},
		{"Mapped", (*rig).testMapped},
		{"Registered", (*rig).testRegistered},
		{"Managed", (*rig).testManaged},
		{"LargeCopies", (*rig).testLargeCopies},
		{"ManyDownloads", (*rig).testManyDownloads},
		{"Fill", (*rig).testFill},
		{"Views", (*rig).testViews},
		{"Planes", (*rig).testPlanes},
		{"BetweenDevices", (*rig).testBetweenDevices},
		{"WaitFor", (*rig).testWaitFor},
		{"DownloadBefore", (*rig).testDownloadBefore},
		{"WaitForErrors", (*rig).testWaitForErrors},
		{"FaultIsInherited", (*rig).testFaultIsInherited},
		{"Done", (*rig).testDone},
		{"Scope", (*rig).testScope},
		{"ManyWaiters", (*rig).testManyWaiters},
		{"LaunchedAt", (*rig).testLaunchedAt},
		{"ClosingOrder", (*rig).testClosingOrder},
		{"Leaks", (*rig).testLeaks},
		{"MemoryLimit", (*rig).testMemoryLimit},
		{"UnclosedAtEnd", (*rig).testUnclosedAtEnd},
		{"Graph", (*rig).testGraph},
		{"GraphUpdate", (*rig).testGraphUpdate},
		{"GraphFault", (*rig).testGraphFault},
		{"CaptureErrors", (*rig).testCaptureErrors},
		{"GraphKeepsMemory", (*rig).testGraphKeepsMemory},
		{"GraphMemory", (*rig).testGraphMemory},
		{"GraphMemoryIsShared", (*rig).testGraphMemoryIsShared},
		{"GraphMemoryErrors", (*rig).testGraphMemoryErrors},
		{"GraphMemoryLimit", (*rig).testGraphMemoryLimit},
		{"ClosedStream", (*rig).testClosedStream},
		{"ClosedDevice", (*rig).testClosedDevice},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(r, t) })
	}
}

// rig is the device under test.
type rig struct {
	open   func() (*device.Device, error)
	device *device.Device
}

// opened returns a device that is closed at the end of the test, unless the test has closed it.
func opened(t *testing.T, open func() (*device.Device, error)) *device.Device {
	t.Helper()
	d, err := open()
	must(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil && !errors.Is(err, device.ErrClosed) {
			t.Errorf("closing the device: %v", err)
		}
	})
	return d
}

// stream returns a stream that is closed at the end of the test.
func (r *rig) stream(t *testing.T) *device.Stream {
	t.Helper()
	return streamTo(t, r.device, io.Discard)
}

// printing returns a stream, and a buffer that receives what its kernels print.
func (r *rig) printing(t *testing.T) (*device.Stream, *bytes.Buffer) {
	t.Helper()
	var b bytes.Buffer
	return streamTo(t, r.device, &b), &b
}

func streamTo(t *testing.T, d *device.Device, w io.Writer) *device.Stream {
	t.Helper()
	s, err := d.NewStreamTo(w)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, device.ErrClosed) {
			t.Errorf("closing the stream: %v", err)
		}
	})
	return s
}

// upload returns a buffer with the contents of host. It is closed at the end of the test.
func upload[T any](t *testing.T, s *device.Stream, host []T) *device.Buffer[T] {
	t.Helper()
	b, err := device.Upload(s, host)
	must(t, err)
	closeLater(t, b)
	return b
}

// made returns a buffer of n zeros. It is closed at the end of the test.
func made[T any](t *testing.T, s *device.Stream, n int) *device.Buffer[T] {
	t.Helper()
	b, err := device.Make[T](s, n)
	must(t, err)
	closeLater(t, b)
	return b
}

func closeLater[T any](t *testing.T, b *device.Buffer[T]) {
	t.Cleanup(func() {
		if err := b.Close(); err != nil && !errors.Is(err, device.ErrClosed) {
			t.Errorf("closing a buffer: %v", err)
		}
	})
}

// check waits for the stream and compares what is in src with want.
func check[T comparable](t *testing.T, s *device.Stream, src interface{ All() device.Slice[T] }, want []T) {
	t.Helper()
	got := make([]T, len(want))
	must(t, device.Download(s, got, src))
	must(t, s.Synchronize(t.Context()))
	if slices.Equal(got, want) {
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("element %d of %d is %v, want %v", i, len(got), got[i], want[i])
			return
		}
	}
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants reports an error that does not match want.
func wants(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want one that is %q", what, err, want)
	}
}

// fails checks that f returns an error that matches want, that Synchronize also returns it, and
// that the stream works afterwards.
func fails(t *testing.T, s *device.Stream, what string, want error, f func() error) {
	t.Helper()
	wants(t, what, f(), want)
	wants(t, what+", then Synchronize", s.Synchronize(t.Context()), want)
	must(t, s.Synchronize(t.Context()))
}

// numbers returns n small integers, which float32 represents exactly, as it does their products.
func numbers(n, seed int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((i*31+seed)%61 - 30)
	}
	return x
}

func products(a, b []float32) []float32 {
	c := make([]float32, len(a))
	for i := range c {
		c[i] = a[i] * b[i]
	}
	return c
}
