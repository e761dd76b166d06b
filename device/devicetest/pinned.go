package devicetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
)

// closer is a resource that a test closes at its end.
type closer interface{ Close() error }

func closedLater(t *testing.T, c closer) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil && !errors.Is(err, device.ErrClosed) {
			t.Errorf("closing: %v", err)
		}
	})
}

// unsupported skips the test if err reports that the device does not support the tested feature.
func unsupported(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, device.ErrUnsupported) {
		t.Skipf("the device does not support it: %v", err)
	}
	must(t, err)
}

func (r *rig) testPinned(t *testing.T) {
	s, n := r.stream(t), 300_000
	in, err := device.NewPinned[float32](r.device, n)
	must(t, err)
	closedLater(t, in)
	out, err := device.NewPinned[float32](r.device, n)
	must(t, err)
	closedLater(t, out)
	copy(in.Host(), numbers(n, 1))
	b := made[float32](t, s, n)
	must(t, device.UploadPinned(s, b.All(), in.All()))
	must(t, device.UploadPinned(s, b.Slice(10, 20), in.Slice(50, 60)))
	must(t, device.DownloadPinned(s, out.All(), b.All()))
	must(t, s.Synchronize(t.Context()))
	want := numbers(n, 1)
	copy(want[10:20], want[50:60])
	if !slices.Equal(out.Host(), want) || in.Len() != n || in.Slice(1, 4).Len() != 3 {
		t.Error("the downloaded data differs from the uploaded data")
	}
	stats, err := r.device.MemoryStats()
	if must(t, err); stats.Pinned < int64(8*n) {
		t.Errorf("%d bytes of pinned memory are counted, want at least %d", stats.Pinned, 8*n)
	}
}

func (r *rig) testPinnedErrors(t *testing.T) {
	s := r.stream(t)
	p, err := device.NewPinned[int32](r.device, 4)
	must(t, err)
	closedLater(t, p)
	closed, err := device.NewPinned[int32](r.device, 4)
	must(t, err)
	must(t, closed.Close())
	if len(p.Host()) != 4 || closed.Host() != nil {
		t.Errorf("Host returns %d elements, and %d after Close, want 4 and none", len(p.Host()), len(closed.Host()))
	}
	foreign, err := device.NewPinned[int32](opened(t, r.open), 4)
	must(t, err)
	b := upload(t, s, []int32{1, 2, 3, 4})
	for _, c := range []struct {
		what string
		with device.PinnedSlice[int32]
		want error
	}{
		{"closed memory", closed.All(), device.ErrClosed},
		{"no memory", (*device.Pinned[int32])(nil).All(), device.ErrNilBuffer},
		{"another device's memory", foreign.All(), device.ErrForeign},
		{"bounds past the end", p.Slice(2, 5), device.ErrRange},
		{"too little memory", p.Slice(0, 3), device.ErrLength},
	} {
		fails(t, s, "upload from "+c.what, c.want, func() error { return device.UploadPinned(s, b.All(), c.with) })
		fails(t, s, "download to "+c.what, c.want, func() error { return device.DownloadPinned(s, c.with, b.All()) })
	}
	wants(t, "closing twice", closed.Close(), device.ErrClosed)
	_, err = device.NewPinned[*int](r.device, 1)
	wants(t, "pointers", err, device.ErrElement)
	_, err = device.Register(r.device, []string{"x"})
	wants(t, "registering strings", err, device.ErrElement)
	_, err = device.Register[int32](r.device, nil)
	wants(t, "registering nothing", err, device.ErrRange)
	check(t, s, b, []int32{1, 2, 3, 4})
}

func (r *rig) testMapped(t *testing.T) {
	s, n := r.stream(t), 10_000
	x, err := device.NewMapped[float32](r.device, n)
	must(t, err)
	closedLater(t, x)
	copy(x.Host(), numbers(n, 3))
	b, c := upload(t, s, numbers(n, 4)), made[float32](t, s, n)
	err = startMultiply(s, Multiply(), device.Cover(n, 128), factors{x.Mapped(), b.All(), c.All()})
	if errors.Is(err, device.ErrUnsupported) {
		wants(t, "Synchronize", s.Synchronize(t.Context()), device.ErrUnsupported)
	}
	unsupported(t, err)
	check(t, s, c, products(numbers(n, 3), numbers(n, 4)))
	must(t, startMultiply(s, Multiply(), device.Cover(n, 128), factors{b.All(), b.All(), x.Mapped()}))
	must(t, s.Synchronize(t.Context()))
	if !slices.Equal(x.Host(), products(numbers(n, 4), numbers(n, 4))) {
		t.Error("the host does not see what the kernel wrote")
	}
}

func (r *rig) testRegistered(t *testing.T) {
	s, n := r.stream(t), 100_000
	host := numbers(n, 5)
	p, err := device.Register(r.device, host)
	must(t, err)
	b := made[float32](t, s, n)
	must(t, device.UploadPinned(s, b.All(), p.All()))
	must(t, s.Synchronize(t.Context()))
	must(t, p.Close())
	check(t, s, b, numbers(n, 5))
	wants(t, "after Close", device.UploadPinned(s, b.All(), p.All()), device.ErrClosed)
	wants(t, "Synchronize", s.Synchronize(t.Context()), device.ErrClosed)
	if !slices.Equal(host, numbers(n, 5)) {
		t.Error("Close changed the registered memory")
	}
}

func (r *rig) testManaged(t *testing.T) {
	s, n := r.stream(t), 10_000
	x, err := device.NewManaged[float32](r.device, n)
	unsupported(t, err)
	closedLater(t, x)
	copy(x.Host(), numbers(n, 6))
	must(t, device.Advise(x.All(), device.PreferDevice))
	must(t, device.Prefetch(s, x.All()))
	c := made[float32](t, s, n)
	must(t, startMultiply(s, Multiply(), device.Cover(n, 128), factors{x.All(), x.All(), c.All()}))
	must(t, device.PrefetchHost(s, x.Slice(0, n/2)))
	check(t, s, c, products(numbers(n, 6), numbers(n, 6)))
	if !slices.Equal(x.Host(), numbers(n, 6)) {
		t.Error("the memory changed")
	}
	fails(t, s, "prefetch of a buffer", device.ErrUnsupported, func() error { return device.Prefetch(s, c.All()) })
	wants(t, "advice for a buffer", device.Advise(c.All(), device.ReadMostly), device.ErrUnsupported)
	_, err = device.NewManaged[byte](r.device, int(r.device.Info().Memory)+1)
	wants(t, "more than there is", err, device.ErrMemory)
}

// testLargeCopies copies, to and from ordinary memory, more than any staging buffer holds.
func (r *rig) testLargeCopies(t *testing.T) {
	s := r.stream(t)
	for _, n := range []int{64<<10 + 1, 1 << 20, 5<<20 + 4711} {
		x := make([]byte, n)
		for i := range x {
			x[i] = byte(i ^ i>>8 ^ i>>16)
		}
		b, err := device.Upload(s, x)
		must(t, err)
		want := slices.Clone(x)
		clear(x)
		early, late := make([]byte, n), make([]byte, n)
		must(t, device.Download(s, early, b))
		must(t, device.Fill(s, b.Slice(0, 1000), 7))
		must(t, device.Download(s, late, b))
		must(t, s.Synchronize(t.Context()))
		if !slices.Equal(early, want) {
			t.Errorf("%d bytes changed on the way", n)
		}
		if !slices.Equal(late[:1000], slices.Repeat([]byte{7}, 1000)) || !slices.Equal(late[1000:], want[1000:]) {
			t.Errorf("of %d bytes, the wrong ones were filled", n)
		}
		must(t, b.Close())
	}
}

// testManyDownloads enqueues more small downloads before one wait than can borrow memory at the
// same time.
func (r *rig) testManyDownloads(t *testing.T) {
	s := r.stream(t)
	const n, each = 40, 30_000
	b := upload(t, s, numbers(n*each, 1))
	var got [n][]float32
	for i := range got {
		got[i] = make([]float32, each)
		must(t, device.Download(s, got[i], b.Slice(i*each, (i+1)*each)))
	}
	must(t, device.Fill(s, b.All(), 0))
	must(t, s.Synchronize(t.Context()))
	if !slices.Equal(slices.Concat(got[:]...), numbers(n*each, 1)) {
		t.Error("the downloaded data is wrong")
	}
}
