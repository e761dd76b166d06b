package devicetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
)

// powers is a graph that stores the eighth powers of x in y, with buffers of its own for the powers
// between. The fourth powers stay open.
type powers struct {
	n      int
	x, y   *device.Buffer[float32]
	fourth *device.Buffer[float32]
}

func (r *rig) newPowers(t *testing.T, s *device.Stream) (*powers, *device.Graph) {
	t.Helper()
	p := &powers{n: 3000, x: made[float32](t, s, 3000), y: made[float32](t, s, 3000)}
	g, err := r.device.Capture(p.record)
	must(t, err)
	return p, g
}

// record enqueues the work on a stream, which may record a graph or not.
func (p *powers) record(s *device.Stream) error {
	k, grid := Multiply(), device.Cover(p.n, 128)
	second, err := device.Make[float32](s, p.n)
	if err != nil {
		return err
	}
	err = startMultiply(s, k, grid, factors{p.x.All(), p.x.All(), second.All()})
	if p.fourth, err = after(err, device.MakeDirty[float32], s, p.n); err != nil {
		return err
	}
	err = errors.Join(startMultiply(s, k, grid, factors{second.All(), second.All(), p.fourth.All()}), second.Close())
	eighth, err := after(err, device.MakeDirty[float32], s, p.n) // may have the memory of the second powers
	if err != nil {
		return err
	}
	zeros, err := device.Make[float32](s, p.n)
	return errors.Join(err,
		startMultiply(s, k, grid, factors{p.fourth.All(), p.fourth.All(), eighth.All()}),
		device.Copy(s, zeros.Slice(1, p.n), eighth.Slice(1, p.n)), eighth.Close(),
		device.Copy(s, p.y.All(), zeros.All()), zeros.Close())
}

// after calls f unless an earlier call has failed.
func after(err error, f func(*device.Stream, int) (*device.Buffer[float32], error), s *device.Stream, n int) (*device.Buffer[float32], error) {
	if err != nil {
		return nil, err
	}
	return f(s, n)
}

// check checks the results for the numbers that are made from seed.
func (p *powers) check(t *testing.T, s *device.Stream, seed int) {
	t.Helper()
	x := numbers(p.n, seed)
	second := products(x, x)
	fourth := products(second, second)
	eighth := products(fourth, fourth)
	eighth[0] = 0
	check(t, s, p.fourth, fourth)
	check(t, s, p.y, eighth)
}

func (r *rig) testGraphMemory(t *testing.T) {
	s := r.stream(t)
	before, err := r.device.MemoryStats()
	must(t, err)
	p, g := r.newPowers(t, s)
	captured, err := r.device.MemoryStats()
	must(t, err)
	if own := captured.Used - before.Used - 2*4*3000; own < 2*4*3000 {
		t.Errorf("the graph's memory counts as %d bytes, want at least that of two buffers", own)
	}
	for seed := range 20 {
		must(t, device.UploadTo(s, p.x.All(), numbers(p.n, seed)))
		must(t, g.Launch(s))
		p.check(t, s, seed)
	}
	after, err := r.device.MemoryStats()
	must(t, err)
	if after.Used != captured.Used || after.Buffers != captured.Buffers || after.Peak > captured.Peak && before.Peak < captured.Peak {
		t.Errorf("after 20 runs: %+v, before: %+v", after, captured)
	}
	other := r.stream(t)
	must(t, g.Launch(other))
	p.check(t, other, 19)
	fourth := p.fourth
	must(t, g.Close())
	fails(t, s, "a buffer of a closed graph", device.ErrClosed, func() error { return device.Fill(s, fourth.All(), 1) })
	wants(t, "closing a buffer of a closed graph", fourth.Close(), device.ErrClosed)
	must(t, device.UploadTo(s, p.x.All(), numbers(p.n, 3)))
	must(t, p.record(s)) // the same function on a stream that does not record
	p.check(t, s, 3)
	must(t, p.fourth.Close())
	if after, err = r.device.MemoryStats(); err != nil || after.Used != before.Used+2*4*3000 {
		t.Errorf("after closing the graph, %d bytes are in use, before it %d: %v", after.Used, before.Used, err)
	}
}

// testGraphMemoryIsShared uses a buffer that a graph made in another graph, and in an update, which keep
// its memory when the first graph is closed.
func (r *rig) testGraphMemoryIsShared(t *testing.T) {
	s := r.stream(t)
	p, g := r.newPowers(t, s)
	out := made[float32](t, s, p.n)
	second, err := r.device.Capture(func(s *device.Stream) error { return device.Copy(s, out.All(), p.fourth.All()) })
	must(t, err)
	k := Multiply()
	third, err := r.device.Capture(func(s *device.Stream) error {
		return startMultiply(s, k, device.Cover(p.n, 128), factors{out.All(), out.All(), out.All()})
	})
	must(t, err)
	must(t, third.Update(0, func(s *device.Stream) error {
		return startMultiply(s, k, device.Cover(p.n, 128), factors{p.fourth.All(), p.x.All(), p.y.All()})
	}))
	must(t, device.UploadTo(s, p.x.All(), numbers(p.n, 4)))
	must(t, g.Launch(s))
	must(t, g.Close())
	must(t, second.Launch(s))
	must(t, third.Launch(s))
	x := products(numbers(p.n, 4), numbers(p.n, 4))
	check(t, s, out, products(x, x))
	check(t, s, p.y, products(products(x, x), numbers(p.n, 4)))
	_, err = r.device.Capture(func(s *device.Stream) error { return device.Copy(s, out.All(), p.fourth.All()) })
	wants(t, "recording a buffer of a closed graph", err, device.ErrClosed)
	must(t, errors.Join(second.Close(), third.Close()))
}

func (r *rig) testGraphMemoryErrors(t *testing.T) {
	live := r.stream(t)
	x := upload(t, live, []int32{1, 2, 3})
	before, err := r.device.MemoryStats()
	must(t, err)
	var late *device.Stream
	for what, f := range map[string]struct {
		want   error
		record func(s *device.Stream) error
	}{
		"a negative length": {device.ErrRange, func(s *device.Stream) error { _, err := device.Make[int32](s, -1); return err }},
		"too much memory":   {device.ErrMemory, func(s *device.Stream) error { _, err := device.Make[byte](s, 1<<50); return err }},
		"a closed buffer": {device.ErrClosed, func(s *device.Stream) error {
			b, err := device.Make[int32](s, 3)
			if err != nil {
				return err
			}
			return errors.Join(b.Close(), device.Copy(s, b.All(), x.All()))
		}},
		"an error of the function": {errors.ErrUnsupported, func(s *device.Stream) error {
			_, err := device.Make[int32](s, 3)
			late = s
			return errors.Join(err, errors.ErrUnsupported)
		}},
	} {
		_, err := r.device.Capture(f.record)
		wants(t, what, err, f.want)
	}
	_, err = device.Make[int32](late, 3)
	wants(t, "a buffer after the recording", err, device.ErrCapture)
	k := Poke()
	g, err := r.device.Capture(func(s *device.Stream) error {
		return startPoke(s, k, device.Cover(3, 32), target{x.All(), -1, 0})
	})
	must(t, err)
	wants(t, "a buffer in an update", g.Update(0, func(s *device.Stream) error {
		b, err := device.Make[int32](s, 3)
		return errors.Join(err, startPoke(s, k, device.Cover(3, 32), target{b.All(), -1, 0}))
	}), device.ErrCapture)
	must(t, g.Launch(live))
	check(t, live, x, countTo(3))
	must(t, g.Close())
	after, err := r.device.MemoryStats()
	must(t, err)
	if after.Used != before.Used || after.Buffers != before.Buffers {
		t.Errorf("after recordings that failed: %+v, before: %+v", after, before)
	}
}

func (r *rig) testGraphMemoryLimit(t *testing.T) {
	d := opened(t, r.open)
	s := streamTo(t, d, nil)
	d.SetMemoryLimit(1 << 20)
	var b *device.Buffer[byte]
	g, err := d.Capture(func(s *device.Stream) (err error) {
		b, err = device.Make[byte](s, 700<<10)
		return err
	})
	must(t, err)
	_, err = device.Make[byte](s, 500<<10)
	full, ok := errors.AsType[*device.MemoryError](err)
	if !ok || !slices.ContainsFunc(full.Owners, func(o device.Owner) bool {
		return o.Kind == "graph" && o.Bytes == 700<<10 && o.Buffers == 1 && strings.HasPrefix(o.Site, "graphmemory.go:")
	}) {
		t.Errorf("%v does not name the graph's memory", err)
	}
	must(t, s.Synchronize(t.Context()))
	_, err = d.Capture(func(s *device.Stream) error { _, err := device.Make[byte](s, 500<<10); return err })
	wants(t, "more than the limit", err, device.ErrMemory)
	must(t, g.Launch(s))
	check(t, s, b, make([]byte, 700<<10))
	must(t, g.Close())
	c, err := device.Make[byte](s, 500<<10)
	must(t, err)
	must(t, c.Close())
}
