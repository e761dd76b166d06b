package cuda

import (
	"io"
	"sync"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
)

// atOnce runs fs on goroutines that start at the same time, and waits for them.
func atOnce(fs ...func()) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for _, f := range fs {
		all.Go(func() {
			<-start
			f()
		})
	}
	close(start)
	all.Wait()
}

// TestCloseBesideStreams closes a device while other goroutines close its streams. Each stream is
// destroyed exactly once, whichever goroutine is first.
func TestCloseBesideStreams(t *testing.T) {
	for range 200 {
		f := newFake()
		dev, err := on(f, nil).openDevice(0)
		check(t, err)
		fs := []func(){func() { check(t, dev.Close()) }}
		for range 16 {
			s, err := dev.NewStreamTo(io.Discard)
			check(t, err)
			_, err = device.Make[float32](s, 100)
			check(t, err)
			fs = append(fs, func() {
				_ = s.Synchronize(t.Context()) // an error if the device was closed first
				_ = s.Close()
			})
		}
		atOnce(fs...)
		if wantNothingLive(t, f); t.Failed() {
			return
		}
	}
}

// TestCloseBesideWork closes a device while goroutines use and free everything that it has.
func TestCloseBesideWork(t *testing.T) {
	for range 30 {
		f := newFake()
		dev, err := on(f, nil).openDevice(0)
		check(t, err)
		fs := []func(){func() { _ = dev.Close() }} // returns the errors of work that was enqueued too late
		for i := range 16 {
			fs = append(fs, func() { useUntilClosed(t, dev, i%3 == 0) })
		}
		atOnce(fs...)
		if wantNothingLive(t, f); t.Failed() {
			return
		}
	}
}

// useUntilClosed uses a device that another goroutine closes: any call may return an error.
func useUntilClosed(t *testing.T, dev *device.Device, closeStream bool) {
	s, err := dev.NewStreamTo(io.Discard)
	if err != nil {
		return
	}
	var all sync.WaitGroup
	defer all.Wait()
	for range 5 {
		b, err := device.Make[float32](s, 1000)
		if err != nil {
			return
		}
		if e, err := s.Record(); err == nil {
			all.Go(func() { _ = e.Close() })
		}
		if p, err := device.NewPinned[float32](dev, 100); err == nil {
			all.Go(func() { _ = p.Close() })
		}
		if g, err := dev.Capture(func(s *device.Stream) error { return device.Fill(s, b.All(), 1) }); err == nil {
			_ = g.Launch(s)
			all.Go(func() { _ = g.Close() })
		}
		all.Go(func() { _ = b.Close() })
		_ = device.Download(s, make([]float32, 1000), b)
		all.Go(func() { _ = s.Synchronize(t.Context()) })
	}
	if closeStream {
		_ = s.Close()
	}
}
