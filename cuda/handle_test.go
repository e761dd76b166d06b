package cuda

import (
	"errors"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

// TestDo lets a library, in this test the driver itself, fill memory on a stream and in a graph.
func TestDo(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	defer mustClose(t, dev)
	s := newStream(t, dev)
	raw, err := dev.Backend().Allocate(8)
	check(t, err)
	host, err := device.NewPinned[byte](dev, 8)
	check(t, err)
	driver := f.Driver()
	fill := func(s *device.Stream, v byte) error {
		return Do(s, func(h Handle) error {
			if status := driver.MemsetD8Async(raw.Address(), v, 8, cudasys.Stream(h.Stream)); status != cudasys.Success {
				return status
			}
			return nil
		})
	}
	wants := func(v byte) {
		t.Helper()
		check(t, s.Queue().(*queue).DownloadTo(host.Host(), raw.Address()))
		check(t, s.Synchronize(t.Context()))
		if !slices.Equal(host.Host(), slices.Repeat([]byte{v}, 8)) {
			t.Errorf("got %v, want %d", host.Host(), v)
		}
	}
	check(t, fill(s, 3))
	wants(3)
	g, err := dev.Capture(func(s *device.Stream) error { return fill(s, 7) })
	check(t, err)
	wants(3) // recording does nothing
	check(t, g.Launch(s))
	wants(7)
	check(t, g.Close())
	_, err = dev.Capture(func(s *device.Stream) error {
		return errors.Join(fill(s, 7), Do(s, func(Handle) error { return InvalidValue }))
	})
	wantError(t, err, InvalidValue, "CUDA_ERROR_INVALID_VALUE")
	check(t, host.Close())
	check(t, raw.Free())
	check(t, dev.Trim())
	if live := f.Live(); live != (cudafake.Live{Contexts: 1, Streams: 3, Events: live.Events, Pinned: live.Pinned, Pools: 1}) {
		t.Errorf("left: %+v", live)
	}

	other, err := cpu.Open()
	check(t, err)
	o, err := other.NewStream()
	check(t, err)
	wantError(t, Do(o, func(Handle) error { return nil }), device.ErrUnsupported, "cpu")
	check(t, other.Close())
}

// TestLoansChecked closes a buffer after it was lent and before the work is enqueued.
func TestLoansChecked(t *testing.T) {
	dev := open(t, newFake())
	defer mustClose(t, dev)
	s := newStream(t, dev)
	x, err := device.Make[float32](s, 8)
	check(t, err)
	for _, want := range []error{nil, device.ErrClosed} {
		l := s.LoansChecked()
		if at := x.All().Lend(&l); at == 0 {
			t.Error("no address")
		}
		if want != nil {
			check(t, x.Close())
		}
		err := l.Enqueue(func() error { return Each(s, func(Handle) error { return l.Closed() }) })
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if err := s.Synchronize(t.Context()); !errors.Is(err, want) {
			t.Errorf("Synchronize returned %v, want %v", err, want)
		}
	}
	none := s.LoansChecked()
	if x.All().Lend(&none); !errors.Is(none.Enqueue(func() error { return nil }), device.ErrClosed) {
		t.Error("a closed buffer was lent")
	}
	_ = s.Synchronize(t.Context())
}
