package device_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/gopherwarp/gopherwarp/device"
)

// recycler is a fake whose memory may be reused.
type recycler struct{ *fake }

func (r recycler) Recyclable() error { return r.fail["recyclable"] }

func newRecycler(t *testing.T) (*fake, *device.Device, *device.Stream) {
	t.Helper()
	f := &fake{fail: map[string]error{}}
	d := device.New(recycler{f})
	s, err := d.NewStreamTo(io.Discard)
	must(t, err)
	f.took()
	return f, d, s
}

func made(t *testing.T, s *device.Stream, n int) *device.Buffer[byte] {
	t.Helper()
	b, err := device.MakeDirty[byte](s, n)
	must(t, err)
	return b
}

// zeroer is a recycler whose new memory is zeros.
type zeroer struct{ recycler }

func (z zeroer) Zeroes() bool { return true }

// TestNewZerosAreNotCleared makes buffers of new memory that is zeros, and of memory that a closed buffer has left.
func TestNewZerosAreNotCleared(t *testing.T) {
	f := &fake{fail: map[string]error{}}
	s, err := device.New(zeroer{recycler{f}}).NewStreamTo(io.Discard)
	must(t, err)
	f.took()
	for range 3 {
		b, err := device.Make[int32](s, 64)
		must(t, err)
		must(t, b.Close())
	}
	wantLog(t, f, "allocate256", "zero4096 256", "zero4096 256")
	wants(t, "launch", s.Plan(kernel(), device.Grid{}).Launch(), device.ErrMismatch)
	_, err = device.Make[byte](s, 1<<20)
	wants(t, "Make on a stream that has failed", err, device.ErrMismatch)
}

func TestMemoryIsReused(t *testing.T) {
	f, d, s := newRecycler(t)
	for _, n := range []int{5000, 5120, 4608, 5000} { // each fits in the memory of the first
		must(t, made(t, s, n).Close())
	}
	wantLog(t, f, "allocate5120")
	small, large := made(t, s, 4000), made(t, s, 5121) // these do not
	wantLog(t, f, "allocate4096", "allocate5376")
	stats, err := d.MemoryStats()
	must(t, err)
	if want := (device.MemoryStats{Used: 9121, Peak: 9121, Reserved: 9121 + 5120, Buffers: 2}); stats != want {
		t.Errorf("got %+v, want %+v", stats, want)
	}
	must(t, small.Close())
	must(t, large.Close())
	must(t, d.Trim())
	slices.Sort(f.log)
	wantLog(t, f, "free12288", "free4096", "free8192")
	if stats, err = d.MemoryStats(); err != nil || stats.Reserved != 0 || stats.Used != 0 || stats.Buffers != 0 {
		t.Errorf("after Trim: %+v, %v", stats, err)
	}
}

// TestArenaIsBounded closes more memory than twice what was ever open at the same time: the memory that was
// closed first is freed.
func TestArenaIsBounded(t *testing.T) {
	f, _, s := newRecycler(t)
	for _, n := range []int{1 << 10, 2 << 10, 3 << 10, 2 << 10} {
		must(t, made(t, s, n).Close())
	}
	wantLog(t, f, "allocate1024", "allocate2048", "allocate3072")
	must(t, made(t, s, 1536).Close())
	wantLog(t, f, "allocate1536", "free4096", "free12288") // of 7680 bytes, 6144 may stay
}

// TestArenaForgets closes a buffer whose memory no later buffer can use.
func TestArenaForgets(t *testing.T) {
	f, _, s := newRecycler(t)
	must(t, made(t, s, 1<<10).Close())
	for range 5 {
		must(t, made(t, s, 4<<10).Close())
	}
	wantLog(t, f, "allocate1024", "allocate4096")
	must(t, made(t, s, 4<<10).Close())
	wantLog(t, f, "free4096")
}

func TestArenaKeepsToTheLimit(t *testing.T) {
	f, d, s := newRecycler(t)
	d.SetMemoryLimit(10 << 10)
	must(t, made(t, s, 8<<10).Close())
	b := made(t, s, 4<<10)
	wantLog(t, f, "allocate8192", "free4096", "allocate4096")
	_, err := device.MakeDirty[byte](s, 7<<10)
	wants(t, "more than the limit", err, device.ErrMemory)
	must(t, b.Close())
	must(t, made(t, s, 4<<10).Close())
	d.SetMemoryLimit(2 << 10)
	_, err = device.MakeDirty[byte](s, 4<<10) // its memory exists
	wants(t, "more than the new limit", err, device.ErrMemory)
}

// TestFullDeviceEmptiesTheArena lets an allocation fail until the kept memory is free.
func TestFullDeviceEmptiesTheArena(t *testing.T) {
	f, _, s := newRecycler(t)
	must(t, made(t, s, 8<<10).Close())
	f.fail["allocate"] = device.ErrMemory
	_, err := device.MakeDirty[byte](s, 4<<10)
	wants(t, "a full device", err, device.ErrMemory)
	if i := slices.Index(f.log, "free4096"); i < 0 || !slices.Contains(f.log[i:], "allocate4096") {
		t.Errorf("the back end was called for %q, want a free and another attempt", f.log)
	}
}

// TestReuseKeepsBuffersApart uses slices of a buffer that was closed, after another buffer has its memory.
func TestReuseKeepsBuffersApart(t *testing.T) {
	f, _, s := newRecycler(t)
	old := made(t, s, 100)
	stale := old.All()
	p := plan(s, kernel(), device.View[int16](stale), device.View[point](stale)) // the launch keeps its memory
	must(t, old.Close())
	other := made(t, s, 100)
	must(t, p.Launch())
	must(t, other.Close())
	b := made(t, s, 100)
	wantLog(t, f, "allocate256", "allocate256", "launchmix")
	wants(t, "closing again", old.Close(), device.ErrClosed)
	wants(t, "a stale slice", device.Fill(s, stale, 1), device.ErrClosed)
	wants(t, "the error sticks", s.Synchronize(t.Context()), device.ErrClosed)
	wants(t, "a stale argument", plan(s, kernel(), device.View[int16](stale), device.View[point](b.All())).Launch(), device.ErrClosed)
	wants(t, "the error sticks", s.Synchronize(t.Context()), device.ErrClosed)
	if _, err := device.Make[byte](s, 5); err != nil {
		t.Error(err)
	}
	must(t, b.Close())
}

// TestLeakOfReusedMemory drops a buffer that has the memory of one that was closed.
func TestLeakOfReusedMemory(t *testing.T) {
	f, d, s := newRecycler(t)
	must(t, made(t, s, 3000).Close())
	if _, err := device.MakeDirty[byte](s, 3000); err != nil {
		t.Fatal(err)
	}
	wantLog(t, f, "allocate3072")
	for end := time.Now().Add(time.Minute); len(d.Leaks()) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	leaks := d.Leaks()
	if len(leaks) != 1 || leaks[0].Bytes != 3000 || leaks[0].Buffers != 1 || !strings.HasPrefix(leaks[0].Site, "arena_test.go:") {
		t.Errorf("leaks are %+v", leaks)
	}
	wantLog(t, f, "free4096") // its handle cannot be reused
	if len(d.Owners()) != 0 {
		t.Errorf("owners are %+v", d.Owners())
	}
}

// TestClosedDeviceIsCollected drops a device that was closed with memory for later buffers.
func TestClosedDeviceIsCollected(t *testing.T) {
	_, d, s := newRecycler(t)
	must(t, made(t, s, 3000).Close())
	must(t, s.Close())
	must(t, d.Close())
	dropped := weak.Make(d)
	d, s = nil, nil
	for end := time.Now().Add(time.Minute); dropped.Value() != nil; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatal("the device is reachable")
		}
	}
}

// layers makes and closes the buffers of 32 layers of a model, for a sequence of n tokens. It returns how
// many, and the most memory that was used and reserved.
func layers(t *testing.T, d *device.Device, s *device.Stream, n int) (buffers int, used, reserved int64) {
	t.Helper()
	wide := func(width int) *device.Buffer[byte] {
		buffers++
		b := made(t, s, 2*width*n)
		stats, err := d.MemoryStats()
		must(t, err)
		used, reserved = max(used, stats.Used), max(reserved, stats.Reserved)
		return b
	}
	x := wide(4096)
	for range 32 {
		norm := wide(4096)
		qkv := wide(6144)
		must(t, norm.Close())
		heads := wide(4096)
		must(t, qkv.Close())
		middle := wide(4096)
		must(t, errors.Join(heads.Close(), x.Close()))
		norm = wide(4096)
		up := wide(28672)
		must(t, norm.Close())
		gated := wide(14336)
		must(t, up.Close())
		x = wide(4096)
		must(t, errors.Join(gated.Close(), middle.Close()))
	}
	logits := wide(16032)
	must(t, errors.Join(x.Close(), logits.Close()))
	return buffers, used, reserved
}

// TestArenaOfLayers checks the figures in RATIONALE.md: how many calls of the back end a model makes, and how
// much memory it reserves.
func TestArenaOfLayers(t *testing.T) {
	for _, c := range []struct {
		what     string
		length   func(r *rand.Rand) int
		calls    float64 // per 1,000 buffers, of 2,000 without an arena
		reserved float64 // relative to the most in use
	}{
		{"one length", func(*rand.Rand) int { return 512 }, 8, 1.7},
		{"random lengths", func(r *rand.Rand) int { return 1 + r.IntN(2048) }, 50, 2.8},
	} {
		f, d, s := newRecycler(t)
		r := rand.New(rand.NewPCG(1, 1))
		var all, calls int
		var used, reserved int64
		for step := range 100 {
			n, u, v := layers(t, d, s, c.length(r))
			if used, reserved = max(used, u), max(reserved, v); step >= 10 {
				all, calls = all+n, calls+len(f.log)
			}
			f.took()
		}
		perThousand, share := 1000*float64(calls)/float64(all), float64(reserved)/float64(used)
		t.Logf("%s: %.1f calls per 1,000 buffers, %.2f of the most in use is reserved", c.what, perThousand, share)
		if perThousand > c.calls || share > c.reserved {
			t.Errorf("%s: want at most %v calls and %v", c.what, c.calls, c.reserved)
		}
	}
}
