package devicetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// squares is a graph that squares x into y, copies y over x, and increments z. It reads from and
// writes to pinned memory.
type squares struct {
	n       int
	k, p    *driver.Kernel
	in, out *device.Pinned[float32]
	x, y    *device.Buffer[float32]
	z       *device.Buffer[int32]
	graph   *device.Graph
}

func (r *rig) newSquares(t *testing.T, s *device.Stream) *squares {
	t.Helper()
	q := &squares{n: 3000, k: Multiply(), p: Poke()}
	var err error
	q.in, err = device.NewPinned[float32](r.device, q.n)
	must(t, err)
	closedLater(t, q.in)
	q.out, err = device.NewPinned[float32](r.device, q.n)
	must(t, err)
	closedLater(t, q.out)
	q.x, q.y, q.z = made[float32](t, s, q.n), made[float32](t, s, q.n), made[int32](t, s, q.n)
	q.graph, err = r.device.Capture(q.record)
	unsupported(t, err)
	closedLater(t, q.graph)
	return q
}

// record enqueues the work on a stream, which may record a graph or not.
func (q *squares) record(s *device.Stream) error {
	fork, err := s.Fork()
	if err != nil {
		return err
	}
	return errors.Join(
		device.UploadPinned(s, q.x.All(), q.in.All()),
		device.Fill(fork, q.z.All(), 7),
		startMultiply(s, q.k, device.Cover(q.n, 128), factors{q.x.All(), q.x.All(), q.y.All()}),
		startPoke(fork, q.p, device.Cover(100, 128), target{q.z.Slice(0, 100), -1, 0}),
		s.Join(fork), fork.Close(),
		device.Copy(s, q.x.All(), q.y.All()),
		device.DownloadPinned(s, q.out.All(), q.x.All()),
	)
}

// check checks the results for the numbers that are made from seed.
func (q *squares) check(t *testing.T, s *device.Stream, seed int) {
	t.Helper()
	must(t, s.Synchronize(t.Context()))
	if want := products(numbers(q.n, seed), numbers(q.n, seed)); !slices.Equal(q.out.Host(), want) {
		t.Errorf("the squares are %v ..., want %v", q.out.Host()[:4], want[:4])
	}
	counted := slices.Repeat([]int32{7}, q.n)
	copy(counted, countTo(100))
	check(t, s, q.z, counted)
}

func (r *rig) testGraph(t *testing.T) {
	s := r.stream(t)
	q := r.newSquares(t, s)
	for seed := range 3 {
		copy(q.in.Host(), numbers(q.n, seed))
		must(t, q.graph.Launch(s))
		q.check(t, s, seed)
	}
	copy(q.in.Host(), numbers(q.n, 9))
	must(t, q.record(s)) // the same function on a stream that does not record
	q.check(t, s, 9)
	nodes := q.graph.Nodes()
	if len(nodes) != 2 || nodes[0].Kernel != "multiply" || nodes[1].Kernel != "poke" || nodes[0].Number != 2 ||
		!strings.HasPrefix(nodes[0].Launched, "graph.go:") {
		t.Errorf("nodes are %+v", nodes)
	}
	other := r.stream(t)
	copy(q.in.Host(), numbers(q.n, 5))
	must(t, q.graph.Launch(other))
	q.check(t, other, 5)
}

func (r *rig) testGraphUpdate(t *testing.T) {
	s := r.stream(t)
	q := r.newSquares(t, s)
	copy(q.in.Host(), numbers(q.n, 1))
	extra := upload(t, s, numbers(q.n, 2))
	must(t, q.graph.Update(2, func(s *device.Stream) error {
		return startMultiply(s, q.k, device.Cover(q.n, 64), factors{q.x.All(), extra.All(), q.y.All()})
	}))
	must(t, extra.Close()) // the graph keeps the buffer alive
	must(t, q.graph.Launch(s))
	must(t, s.Synchronize(t.Context()))
	if !slices.Equal(q.out.Host(), products(numbers(q.n, 1), numbers(q.n, 2))) {
		t.Error("the launch was not changed")
	}
	r.testGraphForgets(t, s, q)
	poke := func(s *device.Stream) error {
		return startPoke(s, q.p, device.Cover(1, 1), target{q.z.All(), -1, 0})
	}
	twice := func(s *device.Stream) error { return errors.Join(poke(s), poke(s)) }
	wants(t, "another kernel", q.graph.Update(2, poke), device.ErrMismatch)
	wants(t, "two launches", q.graph.Update(3, twice), device.ErrMismatch)
	wants(t, "an empty launch", q.graph.Update(3, func(s *device.Stream) error {
		return startPoke(s, q.p, device.Cover(0, 1), target{q.z.All(), -1, 0})
	}), device.ErrMismatch)
	wants(t, "a node that is not a launch", q.graph.Update(0, poke), device.ErrRange)
	wants(t, "a missing node", q.graph.Update(99, poke), device.ErrRange)
	wants(t, "an error of the function", q.graph.Update(3, func(*device.Stream) error { return errors.ErrUnsupported }), errors.ErrUnsupported)
}

// inheritsFault lets a stream wait for an event of s that follows a graph whose third node faults.
func (r *rig) inheritsFault(t *testing.T, s *device.Stream) {
	t.Helper()
	after, err := s.Record()
	must(t, err)
	later := r.stream(t)
	must(t, later.WaitFor(after))
	if _, ok := errors.AsType[*device.Fault](later.Synchronize(t.Context())); !ok {
		t.Error("a stream that waits for an event after a graph does not inherit the graph's fault")
	}
	must(t, after.Close())
}

// testGraphForgets updates a launch repeatedly: the graph keeps the memory of the last arguments
// alive, and that of none before.
func (r *rig) testGraphForgets(t *testing.T, s *device.Stream, q *squares) {
	before, err := r.device.MemoryStats()
	must(t, err)
	for i := range 5 {
		factor := upload(t, s, numbers(q.n, i))
		must(t, q.graph.Update(2, func(s *device.Stream) error {
			return startMultiply(s, q.k, device.Cover(q.n, 64), factors{q.x.All(), factor.All(), q.y.All()})
		}))
		must(t, factor.Close())
		must(t, q.graph.Launch(s))
		must(t, s.Synchronize(t.Context()))
		if !slices.Equal(q.out.Host(), products(numbers(q.n, 1), numbers(q.n, i))) {
			t.Errorf("update %d did not change the launch", i)
		}
	}
	after, err := r.device.MemoryStats()
	must(t, err)
	if after.Used != before.Used {
		t.Errorf("%d bytes are in use after five updates, %d after one", after.Used, before.Used)
	}
}

func (r *rig) testGraphFault(t *testing.T) {
	s, quiet, k := r.stream(t), r.stream(t), Poke()
	x := made[int32](t, s, 8)
	g, err := r.device.Capture(func(s *device.Stream) error {
		for at := range 3 {
			if err := startPoke(s, k, device.Cover(8, 8), target{x.All(), at - 2, 9}); err != nil {
				return err
			}
		}
		return nil
	})
	unsupported(t, err)
	for range 2 {
		must(t, g.Launch(s))
		r.inheritsFault(t, s)
		var fault *device.Fault
		if err := s.Synchronize(t.Context()); !errors.As(err, &fault) {
			t.Fatalf("Synchronize: %v, want a fault", err)
		}
		if fault.Kernel != "poke" || fault.Line != pokeLine || fault.Launched != "" && !strings.HasPrefix(fault.Launched, "graph.go:") {
			t.Errorf("fault %+v", fault)
		}
		must(t, s.Synchronize(t.Context()))
		must(t, quiet.Synchronize(t.Context()))
	}
	must(t, g.Update(2, func(s *device.Stream) error {
		return startPoke(s, k, device.Cover(8, 8), target{x.All(), -1, 0})
	}))
	must(t, g.Launch(s))
	check(t, s, x, countTo(8))
	must(t, g.Close())
}

// testCaptureErrors records operations that a graph cannot contain.
func (r *rig) testCaptureErrors(t *testing.T) {
	live := r.stream(t)
	x := upload(t, live, []int32{1, 2, 3})
	e, err := live.Record()
	must(t, err)
	inner, err := r.device.Capture(func(s *device.Stream) error { return device.Fill(s, x.All(), 1) })
	unsupported(t, err)
	for what, f := range map[string]func(s *device.Stream) error{
		"a buffer with contents": func(s *device.Stream) error { _, err := device.Upload(s, []int32{1}); return err },
		"an upload":              func(s *device.Stream) error { return device.UploadTo(s, x.All(), []int32{1, 2, 3}) },
		"a download":             func(s *device.Stream) error { return device.Download(s, make([]int32, 3), x) },
		"a wait":                 func(s *device.Stream) error { return s.Synchronize(context.Background()) },
		"an event":               func(s *device.Stream) error { _, err := s.Record(); return err },
		"a live event":           func(s *device.Stream) error { return s.WaitFor(e) },
		"a live join":            func(s *device.Stream) error { return s.Join(live) },
		"another device":         func(s *device.Stream) error { return device.CopyFrom(s, x.Slice(0, 1), live, x.Slice(1, 2)) },
		"a graph":                func(s *device.Stream) error { return inner.Launch(s) },
	} {
		_, err := r.device.Capture(f)
		wants(t, what, err, device.ErrCapture)
		_, err = r.device.Capture(func(s *device.Stream) error { // the error stays with the stream, as always
			_ = f(s)
			return nil
		})
		wants(t, what+", ignored", err, device.ErrCapture)
	}
	must(t, live.Synchronize(t.Context()))
	_, err = r.device.Capture(func(s *device.Stream) error { return device.Fill(s, x.Slice(0, 4), 1) })
	wants(t, "bounds out of range", err, device.ErrRange)
	must(t, inner.Launch(live))
	check(t, live, x, []int32{1, 1, 1})
	other := streamTo(t, opened(t, r.open), nil)
	fails(t, other, "another device's graph", device.ErrForeign, func() error { return inner.Launch(other) })
	must(t, inner.Close())
	fails(t, live, "a closed graph", device.ErrClosed, func() error { return inner.Launch(live) })
	wants(t, "closing twice", inner.Close(), device.ErrClosed)
	must(t, e.Close())
}

// testGraphKeepsMemory closes the buffers that a graph uses, and closes the graph while it runs.
func (r *rig) testGraphKeepsMemory(t *testing.T) {
	s := r.stream(t)
	const n = 20_000
	a, err := device.Upload(s, numbers(n, 1))
	must(t, err)
	out := made[float32](t, s, n)
	g, err := r.device.Capture(func(s *device.Stream) error {
		return startMultiply(s, Multiply(), device.Cover(n, 128), factors{a.All(), a.All(), out.All()})
	})
	unsupported(t, err)
	must(t, a.Close())
	over, err := device.MakeDirty[float32](s, n)
	must(t, err)
	must(t, device.Fill(s, over.All(), -1))
	must(t, g.Launch(s))
	must(t, g.Close())
	check(t, s, out, products(numbers(n, 1), numbers(n, 1)))
	must(t, over.Close())
}
