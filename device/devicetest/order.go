package devicetest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

func (r *rig) testWaitFor(t *testing.T) {
	first, second := r.stream(t), r.stream(t)
	const n = 100_000
	x, y := made[float32](t, first, n), made[float32](t, second, n)
	for i := range 10 {
		a := upload(t, first, numbers(n, i))
		must(t, startMultiply(first, Multiply(), device.Cover(n, 256), factors{a.All(), a.All(), x.All()}))
		e, err := first.Record()
		must(t, err)
		must(t, second.WaitFor(e))
		must(t, e.Close()) // the stream still waits for it
		must(t, device.Copy(second, y.All(), x.All()))
		back, err := second.Record()
		must(t, err)
		must(t, first.WaitFor(back))
		must(t, back.Close())
		must(t, a.Close())
	}
	must(t, first.Synchronize(t.Context()))
	check(t, second, y, products(numbers(n, 9), numbers(n, 9)))
}

// testDownloadBefore reads what a stream has downloaded before an event, after waiting only for a stream that waits for the event.
func (r *rig) testDownloadBefore(t *testing.T) {
	first, second := r.stream(t), r.stream(t)
	p, err := device.NewPinned[float32](first.Device(), 4)
	must(t, err)
	for i := range 3 {
		x := upload(t, first, numbers(4, i))
		must(t, device.DownloadPinned(first, p.All(), x.All()))
		e, err := first.Record()
		must(t, err)
		must(t, device.UploadTo(first, x.All(), numbers(4, 9))) // after the event
		must(t, second.WaitFor(e))
		must(t, second.Synchronize(t.Context()))
		if got := p.Host(); !slices.Equal(got, numbers(4, i)) {
			t.Errorf("pass %d: downloaded %v, want %v", i, got, numbers(4, i))
		}
		must(t, e.Close())
		must(t, x.Close())
	}
	must(t, first.Synchronize(t.Context()))
	must(t, p.Close())
}

func (r *rig) testWaitForErrors(t *testing.T) {
	s, other := r.stream(t), streamTo(t, opened(t, r.open), nil)
	e, err := s.Record()
	must(t, err)
	foreign, err := other.Record()
	must(t, err)
	must(t, e.Close())
	fails(t, s, "a closed event", device.ErrClosed, func() error { return s.WaitFor(e) })
	fails(t, s, "another device's event", device.ErrForeign, func() error { return s.WaitFor(foreign) })
	fails(t, s, "no event", device.ErrNilBuffer, func() error { return s.WaitFor(nil) })
	must(t, foreign.Close())
}

// testFaultIsInherited lets streams in a chain wait for each other's events.
func (r *rig) testFaultIsInherited(t *testing.T) {
	a, b, c, free := r.stream(t), r.stream(t), r.stream(t), r.stream(t)
	x := made[int32](t, a, 4)
	before, err := a.Record()
	must(t, err)
	must(t, startPoke(a, Poke(), device.Cover(4, 4), target{x.All(), 1, 9}))
	after, err := a.Record()
	must(t, err)
	must(t, b.WaitFor(after))
	chain, err := b.Record()
	must(t, err)
	must(t, c.WaitFor(chain))
	must(t, free.WaitFor(before))
	want := device.Fault{
		Kernel: "poke", Package: "devicetest", File: "poke.go", Line: pokeLine,
		Message: "index out of range [9] with length 4", Thread: [3]int{1}, Launch: 1,
	}
	wantsFault(t, c, want)
	wantsFault(t, a, want)
	wantsFault(t, b, want)
	for _, s := range []*device.Stream{a, b, c, free} {
		must(t, s.Synchronize(t.Context()))
	}
	late := r.stream(t) // the event still follows work that faulted
	must(t, late.WaitFor(after))
	wantsFault(t, late, want)
	for _, e := range []*device.Event{before, after, chain} {
		must(t, e.Close())
	}
}

func (r *rig) testDone(t *testing.T) {
	s, n := r.stream(t), 100_000
	x := made[float32](t, s, n)
	a := upload(t, s, numbers(n, 2))
	must(t, startMultiply(s, Multiply(), device.Cover(n, 256), factors{a.All(), a.All(), x.All()}))
	select {
	case <-s.Done():
	case <-time.After(time.Minute):
		t.Fatal("the stream's work does not end")
	}
	check(t, s, x, products(numbers(n, 2), numbers(n, 2)))
}

func (r *rig) testScope(t *testing.T) {
	got := make([]int32, 100)
	must(t, r.device.Scope(t.Context(), func(s *device.Stream) error {
		x, err := device.Make[int32](s, 100)
		if err != nil {
			return err
		}
		err = errors.Join(startPoke(s, Poke(), device.Cover(100, 32), target{x.All(), -1, 0}), device.Download(s, got, x))
		return errors.Join(err, x.Close())
	}))
	if !slices.Equal(got, countTo(100)) {
		t.Errorf("after the scope: %v", got)
	}
	var fault *device.Fault
	err := r.device.Scope(t.Context(), func(s *device.Stream) error {
		x := made[int32](t, s, 4)
		return startPoke(s, Poke(), device.Cover(4, 4), target{x.All(), 1, 9})
	})
	if !errors.As(err, &fault) {
		t.Errorf("a fault in a scope: %v", err)
	}
	wants(t, "an error of the function", r.device.Scope(t.Context(), func(*device.Stream) error { return errors.ErrUnsupported }), errors.ErrUnsupported)
}

// testManyWaiters lets goroutines wait for one stream at the same time: all of them get its error.
func (r *rig) testManyWaiters(t *testing.T) {
	s := r.stream(t)
	x := made[int32](t, s, 4)
	must(t, s.Synchronize(t.Context()))
	for range 20 {
		must(t, startPoke(s, Poke(), device.Cover(4, 4), target{x.All(), 1, 9}))
		var waiting sync.WaitGroup
		faults := make([]bool, 8)
		for i := range faults {
			waiting.Go(func() {
				var fault *device.Fault
				faults[i] = errors.As(s.Synchronize(t.Context()), &fault)
			})
		}
		waiting.Wait()
		if !slices.Contains(faults, true) {
			t.Error("no waiter got the fault")
		}
		must(t, s.Synchronize(t.Context()))
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Synchronize(cancelled); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Synchronize with a canceled context: %v", err)
	}
}

func (r *rig) testLaunchedAt(t *testing.T) {
	d := opened(t, r.open)
	d.RecordCallers(true)
	s := streamTo(t, d, nil)
	x := made[int32](t, s, 4)
	for at := range 3 {
		must(t, startPoke(s, Poke(), device.Cover(4, 4), target{x.All(), at - 2, 9}))
	}
	var fault *device.Fault
	if err := s.Synchronize(t.Context()); !errors.As(err, &fault) {
		t.Fatalf("Synchronize: %v, want a fault", err)
	}
	if fault.Launched != "" && !strings.HasPrefix(fault.Launched, "order.go:") {
		t.Errorf("the kernel was launched at %q", fault.Launched)
	}
}

func (r *rig) testClosingOrder(t *testing.T) {
	const n = 50_000
	user, owner := r.stream(t), r.stream(t)
	sum := made[float32](t, user, n)
	for i := range 20 {
		a, err := device.Upload(owner, numbers(n, i))
		must(t, err)
		must(t, owner.Synchronize(t.Context()))
		must(t, startMultiply(user, Multiply(), device.Cover(n, 256), factors{a.All(), a.All(), sum.All()}))
		must(t, a.Close()) // the kernel that uses the buffer may not have started
		over, err := device.MakeDirty[float32](owner, n)
		must(t, err)
		must(t, device.Fill(owner, over.All(), -1))
		must(t, over.Close())
	}
	must(t, owner.Synchronize(t.Context()))
	check(t, user, sum, products(numbers(n, 19), numbers(n, 19)))
}

func (r *rig) testLeaks(t *testing.T) {
	d := opened(t, r.open)
	s := streamTo(t, d, nil)
	before, err := d.MemoryStats()
	must(t, err)
	lose(t, s)
	for end := time.Now().Add(time.Minute); len(d.Leaks()) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	must(t, d.Trim())
	leaks := d.Leaks()
	if len(leaks) != 1 || leaks[0].Bytes != 40_000 || leaks[0].Buffers != 1 || !strings.HasPrefix(leaks[0].Site, "order.go:") {
		t.Errorf("leaks are %+v", leaks)
	}
	after, err := d.MemoryStats()
	must(t, err)
	if after.Used != before.Used || after.Buffers != 0 || after.Peak < 40_000 {
		t.Errorf("after the collection: %+v, before: %+v", after, before)
	}
}

// lose makes a buffer and drops it.
func lose(t *testing.T, s *device.Stream) {
	_, err := device.Upload(s, numbers(10_000, 1))
	must(t, err)
}

func (r *rig) testMemoryLimit(t *testing.T) {
	d := opened(t, r.open)
	s := streamTo(t, d, nil)
	d.SetMemoryLimit(1 << 20)
	a, err := device.Make[byte](s, 700<<10)
	must(t, err)
	b, err := device.Make[byte](s, 300<<10)
	must(t, err)
	_, err = device.Make[byte](s, 100<<10)
	wants(t, "more than the limit", err, device.ErrMemory)
	var full *device.MemoryError
	if !errors.As(err, &full) {
		t.Fatalf("%v is not a MemoryError", err)
	}
	if len(full.Owners) != 2 || full.Owners[0].Bytes != 700<<10 || full.Used != 1000<<10 || full.Bytes != 100<<10 ||
		!strings.Contains(err.Error(), full.Owners[0].Site+" made 1 with 700 KiB") || !strings.HasPrefix(full.Owners[1].Site, "order.go:") {
		t.Errorf("%v has owners %+v", err, full.Owners)
	}
	must(t, a.Close())
	c, err := device.Make[byte](s, 100<<10)
	must(t, err)
	must(t, errors.Join(b.Close(), c.Close()))
	// These buffers are never closed: the device frees them itself.
	for range 30 {
		a, err = device.Make[byte](s, 200<<10)
		must(t, err)
	}
	if len(d.Owners()) == 0 || len(d.Leaks()) == 0 {
		t.Errorf("owners %+v, leaks %+v", d.Owners(), d.Leaks())
	}
	runtime.KeepAlive(a) // the last use of a
	must(t, s.Synchronize(t.Context()))
}

func (r *rig) testUnclosedAtEnd(t *testing.T) {
	d, err := r.open()
	must(t, err)
	d.RecordCallers(true)
	s := streamTo(t, d, nil)
	b, err := device.Upload(s, numbers(100, 1))
	must(t, err)
	err = d.Close()
	wants(t, "closing the device", err, device.ErrLeak)
	if err == nil || !strings.Contains(err.Error(), "order.go:") {
		t.Errorf("%v does not name the line", err)
	}
	wants(t, "closing the buffer", b.Close(), device.ErrClosed)
}
