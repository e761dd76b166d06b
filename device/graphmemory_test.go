package device_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
)

// fills records a fill of a new buffer, and returns the buffer.
func fills(t *testing.T, s *device.Stream, n int) *device.Buffer[byte] {
	t.Helper()
	b := made(t, s, n)
	must(t, device.Fill(s, b.All(), byte(n)))
	return b
}

// captured captures f, runs the graph once, closes it, and compares the addresses that its fills have in the
// order in which they were recorded, relative to the first region. Regions are 4096 bytes apart.
func captured(t *testing.T, what string, f func(s *device.Stream), want ...int) {
	t.Helper()
	fake, d, s := newRecycler(t)
	g, err := d.Capture(func(s *device.Stream) error { f(s); return nil })
	must(t, err)
	fake.took()
	must(t, g.Launch(s))
	var log []string
	for _, at := range want {
		log = append(log, fmt.Sprintf("upload%d %d", 4096+at/10_000, at%10_000))
	}
	t.Run(what, func(t *testing.T) { wantLog(t, fake, log...) })
	must(t, errors.Join(g.Close(), d.Close()))
}

// fill is a fill of n bytes at an address, as captured expects it.
func fill(at, n int) int { return at*10_000 + n }

func TestRecordingReusesMemory(t *testing.T) {
	captured(t, "the same size", func(s *device.Stream) {
		for range 3 {
			must(t, fills(t, s, 1000).Close())
		}
	}, fill(0, 1000), fill(0, 1000), fill(0, 1000))
	captured(t, "two open at a time", func(s *device.Stream) {
		a := fills(t, s, 1000)
		b := fills(t, s, 1000)
		must(t, a.Close())
		fills(t, s, 1000)
		must(t, b.Close())
		fills(t, s, 1000)
	}, fill(0, 1000), fill(4096, 1000), fill(0, 1000), fill(4096, 1000))
	captured(t, "parts of a region, and the whole again", func(s *device.Stream) {
		must(t, fills(t, s, 1024).Close())
		a, b, c := fills(t, s, 256), fills(t, s, 300), fills(t, s, 256)
		d := fills(t, s, 256) // another region
		must(t, b.Close())
		must(t, a.Close())
		must(t, fills(t, s, 700).Close())
		must(t, c.Close())
		fills(t, s, 1024)
		must(t, d.Close())
		fills(t, s, 2) // the smaller of two extents, had the other been free
	}, fill(0, 1024), fill(0, 256), fill(256, 300), fill(768, 256), fill(4096, 256), fill(0, 700), fill(0, 1024), fill(4096, 2))
	captured(t, "the best fit", func(s *device.Stream) {
		a, b := fills(t, s, 1024), fills(t, s, 512)
		must(t, errors.Join(a.Close(), b.Close()))
		fills(t, s, 300)
		fills(t, s, 1000)
	}, fill(0, 1024), fill(4096, 512), fill(4096, 300), fill(0, 1000))
}

// TestBranchesDoNotShareMemory closes buffers in a recording with branches: memory is reused only by work
// that is ordered after all earlier work on it.
func TestBranchesDoNotShareMemory(t *testing.T) {
	forked := func(s *device.Stream) *device.Stream {
		f, err := s.Fork()
		must(t, err)
		return f
	}
	captured(t, "a branch that is not joined", func(s *device.Stream) {
		a := fills(t, s, 1000)
		f := forked(s)
		must(t, device.Fill(f, a.All(), 1))
		must(t, a.Close())
		fills(t, s, 1000) // new memory
		must(t, s.Join(f))
		fills(t, s, 1000) // that of a
	}, fill(0, 1000), fill(0, 1000), fill(4096, 1000), fill(0, 1000))
	captured(t, "memory from before the fork", func(s *device.Stream) {
		must(t, fills(t, s, 1000).Close())
		f := forked(s)
		b := fills(t, f, 1000) // of the first
		fills(t, s, 1000)      // b has it
		must(t, b.Close())
		fills(t, s, 900) // b was used by the branch
		fills(t, f, 900)
	}, fill(0, 1000), fill(0, 1000), fill(4096, 1000), fill(8192, 900), fill(0, 900))
	captured(t, "memory that s used after the fork", func(s *device.Stream) {
		a := fills(t, s, 1000)
		f := forked(s)
		must(t, device.Fill(s, a.All(), 1))
		must(t, a.Close())
		fills(t, f, 1000) // new memory: the second fill may not be done
	}, fill(0, 1000), fill(0, 1000), fill(4096, 1000))
	captured(t, "parts with different users", func(s *device.Stream) {
		f := forked(s)
		must(t, fills(t, s, 1024).Close())
		a, b := fills(t, s, 512), fills(t, s, 512)
		must(t, f.Join(s))
		must(t, device.Fill(f, b.All(), 1))
		must(t, errors.Join(a.Close(), b.Close()))
		fills(t, s, 1024) // new memory
		fills(t, f, 1024)
	}, fill(0, 1024), fill(0, 512), fill(512, 512), fill(512, 512), fill(4096, 1024), fill(0, 1024))
}

func TestFillOfWideValuesIsRecorded(t *testing.T) {
	f, d, s := newRecycler(t)
	g, err := d.Capture(func(s *device.Stream) error {
		b, err := device.MakeDirty[uint64](s, 5)
		return errors.Join(err, device.Fill(s, b.All(), 1<<40+5))
	})
	must(t, err)
	f.took()
	must(t, g.Launch(s))
	wantLog(t, f, "upload4096 4", "upload4100 4", "copy4104 4096 8", "copy4112 4096 16", "copy4128 4096 8")
	must(t, g.Close())
}

func TestUnclosedGraphIsNamed(t *testing.T) {
	_, d, _ := newRecycler(t)
	d.RecordCallers(true)
	_, err := d.Capture(func(s *device.Stream) error { return fills(t, s, 1000).Close() })
	must(t, err)
	err = d.Close()
	leak, ok := errors.AsType[*device.LeakError](err)
	if !ok || len(leak.Open) != 1 || leak.Open[0].Kind != "graph" || !strings.HasPrefix(leak.Open[0].Site, "arena_test.go:") {
		t.Errorf("closing the device: %v", err)
	}
}

func TestGraphGivesMemoryBack(t *testing.T) {
	f, d, s := newRecycler(t)
	var open *device.Buffer[byte]
	g, err := d.Capture(func(s *device.Stream) error {
		open = fills(t, s, 1000)
		return fills(t, s, 100).Close()
	})
	must(t, err)
	wantLog(t, f, "allocate1024", "allocate256")
	must(t, d.Trim())
	p := plan(s, kernel(), device.View[int16](open.All()), device.View[point](open.All()))
	must(t, g.Close())
	wantLog(t, f, "free8192") // the launch keeps the memory of the other buffer
	must(t, p.Launch())
	wantLog(t, f, "launchmix", "free4096")
	if stats, err := d.MemoryStats(); err != nil || stats.Used != 0 || stats.Buffers != 0 {
		t.Errorf("at the end: %+v, %v", stats, err)
	}
}
