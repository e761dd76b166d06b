package device

import (
	"context"
	"fmt"
	"slices"
)

// recorder is the queue of a stream that records: each piece of work becomes a node of a graph,
// behind the node that the stream recorded last.
type recorder struct {
	graph *Graph
	last  int   // number of that node, or -1
	also  []int // nodes that the next one comes behind too
}

// node is a piece of recorded work. One of the following is set.
type node struct {
	after []int

	plan *Plan // a launch
	copy *recordedCopy
	fill *recordedFill
	host *recordedHost

	foreign Foreign
}

// Foreign is work of a library on a device, as the package that knows the device's kind has
// recorded it for a graph.
type Foreign interface {
	// Close frees what was recorded. The graph has its own copy by then.
	Close() error
}

// RecordForeign adds work to what s records, and takes it over.
func RecordForeign(s *Stream, work Foreign) error {
	if s.recorder == nil {
		return join(fmt.Errorf("device: stream does not record: %w", ErrCapture), work.Close())
	}
	return s.enqueue(func(Queue) error { return s.recorder.record(&node{foreign: work}) })
}

// Recording reports whether s records a graph.
func (s *Stream) Recording() bool { return s.recorder != nil }

type recordedCopy struct {
	dst, src uintptr
	n        int
}

type recordedFill struct {
	dst   uintptr
	value []byte
	n     int
}

type recordedHost struct {
	device uintptr
	host   []byte // pinned
	upload bool
}

// place returns the nodes that the recorder's next one comes behind.
func (r *recorder) place() []int {
	if r.last < 0 {
		return slices.Clone(r.also)
	}
	return append([]int{r.last}, r.also...)
}

// record adds a node.
func (r *recorder) record(n *node) error {
	g := r.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	n.after = r.place()
	g.nodes = append(g.nodes, n)
	r.last, r.also = len(g.nodes)-1, nil
	return nil
}

// hold keeps memory until the graph is closed.
func (r *recorder) hold(a *allocation) error {
	g := r.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.held, a) {
		return nil
	}
	if a.state.Add(1) < 0 {
		return join(fmt.Errorf("buffer %w", ErrClosed), a.unpin())
	}
	g.held = append(g.held, a)
	return nil
}

// add adds the node to a graph of the device.
func (n *node) add(g GraphBackend) error {
	switch {
	case n.plan != nil:
		return g.AddLaunch(n.plan, n.after)
	case n.copy != nil:
		return g.AddCopy(n.copy.dst, n.copy.src, n.copy.n, n.after)
	case n.fill != nil:
		return g.AddFill(n.fill.dst, n.fill.value, n.fill.n, n.after)
	case n.foreign != nil:
		return g.AddForeign(n.foreign, n.after)
	default:
		return g.AddHostCopy(n.host.device, n.host.host, n.host.upload, n.after)
	}
}

// do gives the node's work to a queue.
func (n *node) do(q Queue) error {
	switch {
	case n.plan != nil:
		return q.Launch(n.plan)
	case n.copy != nil:
		return q.Copy(n.copy.dst, n.copy.src, n.copy.n)
	case n.fill != nil:
		return fill(q, n.fill.dst, n.fill.value, n.fill.n)
	case n.host.upload:
		return uploadFrom(q, n.host.device, n.host.host)
	default:
		return downloadTo(q, n.host.host, n.host.device)
	}
}

// Launch implements Queue. The node has a plan of its own.
func (r *recorder) Launch(p *Plan) error {
	own := *p
	own.words, own.held = slices.Clone(p.words), nil
	return r.record(&node{plan: &own})
}

// Copy implements Queue.
func (r *recorder) Copy(dst, src uintptr, n int) error {
	return r.record(&node{copy: &recordedCopy{dst, src, n}})
}

// CopyRows implements StridedCopier.
func (r *recorder) CopyRows(dst, src Rows, width, rows int) error {
	for y := range rows {
		if err := r.Copy(dst.Address+uintptr(y*dst.Pitch), src.Address+uintptr(y*src.Pitch), width); err != nil {
			return err
		}
	}
	return nil
}

// Zero implements Queue.
func (r *recorder) Zero(dst uintptr, n int) error { return r.Fill(dst, []byte{0}, n) }

// Fill implements Filler.
func (r *recorder) Fill(dst uintptr, value []byte, n int) error {
	return r.record(&node{fill: &recordedFill{dst, slices.Clone(value), n}})
}

// UploadFrom implements HostCopier.
func (r *recorder) UploadFrom(dst uintptr, src []byte) error {
	return r.record(&node{host: &recordedHost{dst, src, true}})
}

// DownloadTo implements HostCopier.
func (r *recorder) DownloadTo(dst []byte, src uintptr) error {
	return r.record(&node{host: &recordedHost{src, dst, false}})
}

// Upload implements Queue. The memory may be different when the graph runs.
func (r *recorder) Upload(uintptr, []byte) error {
	return fmt.Errorf("device: upload of memory that is not pinned: %w", ErrCapture)
}

// Download implements Queue.
func (r *recorder) Download([]byte, uintptr) error {
	return fmt.Errorf("device: download to memory that is not pinned: %w", ErrCapture)
}

// Mark implements Queue.
func (r *recorder) Mark() (Mark, error) { return nil, fmt.Errorf("device: event: %w", ErrCapture) }

// Wait implements Queue.
func (r *recorder) Wait(context.Context) error {
	return fmt.Errorf("device: wait for a stream that records: %w", ErrCapture)
}

// Take implements Queue.
func (r *recorder) Take() (none Outcome) { return none }

// Close implements Queue.
func (r *recorder) Close() error { return nil }
