package devicetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

func (r *rig) testOrder(t *testing.T) {
	s, k := r.stream(t), Multiply()
	const n, rounds = 10_000, 20
	ones, twos := make([]float32, n), make([]float32, n)
	for i := range n {
		ones[i], twos[i] = 1, 2
	}
	x, y, two := upload(t, s, ones), made[float32](t, s, n), upload(t, s, twos)
	early := make([]float32, n)
	for i := range rounds {
		must(t, startMultiply(s, k, device.Cover(n, 128), factors{x.All(), two.All(), y.All()}))
		must(t, device.Copy(s, x.All(), y.All()))
		if i == 0 {
			must(t, device.Download(s, early, x)) // the current elements, not those after later work
		}
	}
	want := make([]float32, n)
	for i := range want {
		want[i] = 1 << rounds
	}
	check(t, s, x, want)
	if !slices.Equal(early, twos) {
		t.Errorf("a download after the first launch has %v ..., want 2", early[:4])
	}
}

func (r *rig) testTwoStreams(t *testing.T) {
	k := Multiply()
	const n = 30_000
	streams := [2]*device.Stream{r.stream(t), r.stream(t)}
	var c [2]*device.Buffer[float32]
	for i, s := range streams {
		if s.Device() != r.device {
			t.Error("a stream names another device than its own")
		}
		c[i] = made[float32](t, s, n)
		a, b := upload(t, s, numbers(n, i)), upload(t, s, numbers(n, 7))
		must(t, startMultiply(s, k, device.Cover(n, 256), factors{a.All(), b.All(), c[i].All()}))
	}
	for i, s := range streams {
		check(t, s, c[i], products(numbers(n, i), numbers(n, 7)))
	}
	// After a wait, another stream can use a buffer that this stream has written.
	check(t, streams[0], c[1], products(numbers(n, 1), numbers(n, 7)))
}

// testGoroutines uses one stream per goroutine, and one for all of them.
func (r *rig) testGoroutines(t *testing.T) {
	k, common := Multiply(), r.stream(t)
	var running sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		running.Go(func() {
			own, err := r.device.NewStreamTo(io.Discard)
			if err == nil {
				err = errors.Join(multiplyOnce(t.Context(), own, k, i), own.Close())
			}
			errs[i] = errors.Join(err, multiplyOnce(t.Context(), common, k, i))
		})
	}
	running.Wait()
	must(t, errors.Join(errs...))
}

// multiplyOnce uploads, multiplies and downloads.
func multiplyOnce(ctx context.Context, s *device.Stream, k *driver.Kernel, seed int) (err error) {
	const n = 3000
	x, y, got := numbers(n, seed), numbers(n, 3), make([]float32, n)
	var buffers [3]*device.Buffer[float32]
	for i, host := range [][]float32{x, y, got} {
		if buffers[i], err = device.Upload(s, host); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, buffers[i].Close()) }()
	}
	err = startMultiply(s, k, device.Cover(n, 64), factors{buffers[0].All(), buffers[1].All(), buffers[2].All()})
	err = errors.Join(err, device.Download(s, got, buffers[2]), s.Synchronize(ctx))
	if err == nil && !slices.Equal(got, products(x, y)) {
		err = fmt.Errorf("goroutine %d: products are wrong", seed)
	}
	return err
}

func (r *rig) testErrorsStick(t *testing.T) {
	s := r.stream(t)
	b := upload(t, s, []int32{1, 2, 3})
	first := device.UploadTo(s, b.All(), []int32{4})
	wants(t, "an upload that is too short", first, device.ErrLength)
	for what, f := range map[string]func() error{
		"upload":   func() error { return device.UploadTo(s, b.All(), []int32{7, 8, 9}) },
		"download": func() error { return device.Download(s, make([]int32, 3), b) },
		"launch":   func() error { return startPoke(s, Poke(), device.Cover(3, 1), target{b.All(), -1, 0}) },
		"make":     func() error { _, err := device.Make[int32](s, 1); return err },
		"event":    func() error { _, err := s.Record(); return err },
	} {
		err := f()
		if !errors.Is(err, first) || !strings.Contains(err.Error(), "earlier call") {
			t.Errorf("%s after an error: %v, want one that wraps the first, %v", what, err, first)
		}
	}
	if err := s.Synchronize(t.Context()); err != first {
		t.Errorf("Synchronize: %v, want the first error, %v", err, first)
	}
	check(t, s, b, []int32{1, 2, 3})
}

func (r *rig) testContext(t *testing.T) {
	s := r.stream(t)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	x := made[int32](t, s, 8)
	must(t, startPoke(s, Poke(), device.Cover(8, 8), target{x.All(), 3, 1000}))
	// The device may have finished before Synchronize checked the context.
	var fault *device.Fault
	err := s.Synchronize(done)
	if err == nil || !errors.Is(err, context.Canceled) && !errors.As(err, &fault) {
		t.Errorf("Synchronize with a canceled context: %v, want %v or the fault", err, context.Canceled)
	}
	if fault == nil {
		err = s.Synchronize(t.Context())
		if !errors.As(err, &fault) {
			t.Errorf("Synchronize after a canceled one: %v, want the fault", err)
		}
	}
	must(t, s.Synchronize(t.Context()))
}

func (r *rig) testEvents(t *testing.T) {
	s, k := r.stream(t), Multiply()
	const n = 1 << 20
	a, c := upload(t, s, numbers(n, 1)), made[float32](t, s, n)
	start, err := s.Record()
	must(t, err)
	must(t, startMultiply(s, k, device.Cover(n, 256), factors{a.All(), a.All(), c.All()}))
	end, err := s.Record()
	must(t, err)
	must(t, s.Synchronize(t.Context()))
	if took, err := end.Since(start); err != nil || took <= 0 {
		t.Errorf("%d products took %v, %v", n, took, err)
	}
	if took, err := end.Since(end); err != nil || took != 0 {
		t.Errorf("from an event to itself: %v, %v, want 0", took, err)
	}
	addUp(t, s, start, end)
	must(t, start.Close())
	_, err = end.Since(start)
	wants(t, "Since a closed event", err, device.ErrClosed)
	wants(t, "closing an event twice", start.Close(), device.ErrClosed)

	other := streamTo(t, opened(t, r.open), io.Discard)
	foreign, err := other.Record()
	must(t, err)
	must(t, other.Synchronize(t.Context()))
	_, err = foreign.Since(end)
	wants(t, "Since another device's event", err, device.ErrForeign)
	must(t, foreign.Close())
	must(t, end.Close())
}

// addUp checks that the times between events add up to the time from the first to the last. Drivers
// report them in milliseconds, as float32, with a resolution of half a microsecond.
func addUp(t *testing.T, s *device.Stream, first, last *device.Event) {
	t.Helper()
	const parts = 10
	sum, err := last.Since(first)
	must(t, err)
	for range parts {
		next, err := s.Record()
		must(t, err)
		must(t, s.Synchronize(t.Context()))
		took, err := next.Since(last)
		must(t, err)
		sum += took
		defer func() { must(t, next.Close()) }()
		last = next
	}
	whole, err := last.Since(first)
	must(t, err)
	if off := (whole - sum).Abs(); off > (parts+2)*time.Microsecond+whole/1000 {
		t.Errorf("%d times between events add up to %v, from the first to the last it is %v", parts+1, sum, whole)
	}
}

func (r *rig) testClosedStream(t *testing.T) {
	s, out := r.printing(t)
	b := upload(t, s, []int32{1})
	must(t, startGreet(s, device.Cover(1, 1)))
	must(t, s.Close())
	if got, want := out.String(), "thread 0 of block 0\n"; got != want {
		t.Errorf("closing the stream printed %q, want %q", got, want)
	}
	wants(t, "upload", device.UploadTo(s, b.All(), []int32{2}), device.ErrClosed)
	wants(t, "download", device.Download(s, []int32{0}, b), device.ErrClosed)
	wants(t, "launch", startGreet(s, device.Cover(1, 1)), device.ErrClosed)
	wants(t, "Synchronize", s.Synchronize(t.Context()), device.ErrClosed)
	_, err := s.Record()
	wants(t, "event", err, device.ErrClosed)
	wants(t, "Close", s.Close(), device.ErrClosed)
	check(t, r.stream(t), b, []int32{1})
}

func (r *rig) testClosedDevice(t *testing.T) {
	d := opened(t, r.open)
	s := streamTo(t, d, io.Discard)
	b, err := device.Upload(s, []int32{1})
	must(t, err)
	must(t, d.Close())
	_, err = d.NewStream()
	wants(t, "new stream", err, device.ErrClosed)
	_, err = device.Make[int32](s, 1)
	wants(t, "new buffer", err, device.ErrClosed)
	wants(t, "upload", device.UploadTo(s, b.All(), []int32{2}), device.ErrClosed)
	wants(t, "closing a buffer", b.Close(), device.ErrClosed)
	wants(t, "closing a stream", s.Close(), device.ErrClosed)
	wants(t, "closing the device", d.Close(), device.ErrClosed)
	other := r.stream(t)
	check(t, other, upload(t, other, []int32{5}), []int32{5})
}
