package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// Handle identifies a stream to the driver and to NVIDIA's libraries: a CUstream, which is also a
// cudaStream_t, and the CUcontext that it belongs to.
type Handle struct {
	Stream, Context uintptr
	// Before makes the context current. It is set only in a Handle from Each. Packages of this module pass it to the
	// function that calls the library.
	Before cudasys.Before
}

// Do calls f with the handle of s. Use it to call a library that enqueues work on the stream. Until f returns, the
// device's CUDA context is current and the goroutine is locked to its thread. f must neither wait for the stream nor
// keep the handle. If s records a graph, the graph records the work that f enqueues; later launches of the graph
// repeat this work without calling f. So the memory that the work uses must outlive the graph.
//
// If s belongs to a device of another kind, the error is driver.ErrUnsupported.
func Do(s *device.Stream, f func(h Handle) error) error { return do(s, f, (*queue).lend) }

// Each is like Do, but does not make the context current, which saves a transition into C. f must call C only through
// functions that first call the handle's Before on the same thread. Only packages of this module have such functions.
func Each(s *device.Stream, f func(h Handle) error) error { return do(s, f, (*queue).lendEach) }

func do(s *device.Stream, f func(h Handle) error, lend func(*queue, func(h Handle) error) error) error {
	b, ok := s.Device().Backend().(*backend)
	if !ok {
		return fmt.Errorf("cuda: handle of a stream on %v: %w", s.Device().Info().Kind, driver.ErrUnsupported)
	}
	if s.Recording() {
		work, err := b.capture(f)
		if err != nil {
			return err
		}
		return s.RecordForeign(work)
	}
	q := s.Queue().(*queue)
	q.mu.Lock()
	defer q.mu.Unlock()
	return lend(q, f)
}

// lendEach calls f with the queue's handle, whose context f makes current. The lock is held.
func (q *queue) lendEach(f func(h Handle) error) error {
	var failed error
	err := q.doInContext("", func() cudasys.Status {
		failed = f(Handle{uintptr(q.stream), uintptr(q.backend.handle), q.backend.driver.Current(q.backend.handle)})
		return cudasys.Success
	})
	if err == nil {
		return failed
	}
	return err
}

// lend calls f with the queue's handle and the context current. The lock is held.
func (q *queue) lend(f func(h Handle) error) error {
	var failed error
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := q.do("cuCtxSetCurrent", func() cudasys.Status {
		failed = f(Handle{Stream: uintptr(q.stream), Context: uintptr(q.backend.handle)})
		return cudasys.Success
	})
	return errors.Join(err, failed)
}

// captured is work of a library, captured as a graph of the driver. It implements driver.Foreign.
type captured struct {
	backend *backend
	graph   cudasys.Graph
}

// capture records the work that f enqueues. The capture is relaxed, and uses a stream that nothing
// else uses, so calls of other goroutines are neither recorded nor refused.
func (b *backend) capture(f func(h Handle) error) (*captured, error) {
	q, err := b.newQueue(0)
	if err != nil {
		return nil, err
	}
	c := &captured{backend: b}
	q.mu.Lock()
	err = q.do("cuStreamBeginCapture", func() cudasys.Status {
		return b.driver.StreamBeginCapture(q.stream, cudasys.CaptureRelaxed)
	})
	if err == nil {
		err = q.lend(f)
		ended := q.do("cuStreamEndCapture", func() cudasys.Status { return b.driver.StreamEndCapture(q.stream, &c.graph) })
		err = errors.Join(err, ended)
	}
	q.mu.Unlock()
	if err = errors.Join(err, q.Close()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close implements driver.Foreign.
func (c *captured) Close() error {
	if c.graph == 0 {
		return nil
	}
	return c.backend.do("cuGraphDestroy", func() cudasys.Status { return c.backend.driver.GraphDestroy(c.graph) })
}

// AddForeign implements driver.GraphBackend.
func (g *graph) AddForeign(work driver.Foreign, after []int) error {
	c, ok := work.(*captured)
	if !ok || c.backend != g.backend {
		return fmt.Errorf("cuda: work of a library: %w", driver.ErrForeign)
	}
	return g.add("cuGraphAddChildGraphNode", "", func(n *cudasys.GraphNode) cudasys.Status {
		return g.backend.driver.GraphAddChildGraphNode(n, g.handle, g.after(after), c.graph)
	})
}

// With calls f while the CUDA context of d is current and the goroutine is locked to its thread.
// Use it for library calls that belong to no stream, such as calls that create or destroy objects
// of the library. f must not wait for work of the device. If d is a device of another kind, the
// error is driver.ErrUnsupported.
func With(d *device.Device, f func(context uintptr) error) error {
	b, ok := d.Backend().(*backend)
	if !ok {
		return fmt.Errorf("cuda: context of a device that is a %v: %w", d.Info().Kind, driver.ErrUnsupported)
	}
	var failed error
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := b.do("cuCtxSetCurrent", func() cudasys.Status {
		failed = f(uintptr(b.handle))
		return cudasys.Success
	})
	return errors.Join(err, failed)
}
