package device

import (
	"context"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// recorder is the queue of a stream that records: each piece of work becomes a node of a graph,
// after the node that the stream recorded last.
type recorder struct {
	graph *Graph
	last  int   // number of that node, or -1
	also  []int // additional nodes that the next one waits for
}

// node is a piece of recorded work. One of the fields after the first two is set.
type node struct {
	after []int
	held  []*allocation // the arguments of a launch

	launch  *launch
	copy    *recordedCopy
	fill    *recordedFill
	host    *recordedHost
	foreign driver.Foreign
}

// kernel returns the kernel of a launch.
func (n *node) kernel() *driver.Kernel { return n.launch.plan.Kernel() }

// RecordForeign adds a vendor library's work to the graph that s records, and takes ownership of
// the work.
func (s *Stream) RecordForeign(work driver.Foreign) error {
	if s.recorder == nil {
		return join(fmt.Errorf("device: stream does not record: %w", ErrCapture), work.Close())
	}
	return s.enqueue(func(driver.Queue) error { return s.recorder.record(&node{foreign: work}) })
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

// place returns the nodes that the next node of the recorder waits for.
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

// add adds the node to a graph of the device.
func (n *node) add(g driver.GraphBackend) error {
	switch {
	case n.launch != nil:
		return g.AddLaunch(n.launch.plan, n.after)
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

// do enqueues the node's work on a queue.
func (n *node) do(q driver.Queue) error {
	switch {
	case n.launch != nil:
		return q.Launch(n.launch.plan)
	case n.copy != nil:
		return q.Copy(n.copy.dst, n.copy.src, n.copy.n)
	case n.fill != nil:
		return fill(q, n.fill.dst, n.fill.value, n.fill.n)
	case n.host.upload:
		return uploadFrom(q, n.host.device, n.host.host)
	default:
		return downloadTo(q, n.host.device, n.host.host)
	}
}

// Launch implements driver.Queue. The node has its own copy of the launch.
func (r *recorder) Launch(p *driver.Plan) error {
	l := p.Owner().(*launch)
	var held []*allocation
	for _, x := range l.held {
		r.graph.keep(x.root())
		held = append(held, x.root())
	}
	return r.record(&node{launch: l.recorded(), held: held})
}

// Copy implements driver.Queue.
func (r *recorder) Copy(dst, src uintptr, n int) error {
	return r.record(&node{copy: &recordedCopy{dst, src, n}})
}

// CopyRows implements driver.StridedCopier.
func (r *recorder) CopyRows(dst, src driver.Rows, width, rows int) error {
	for y := range rows {
		if err := r.Copy(dst.Address+uintptr(y*dst.Pitch), src.Address+uintptr(y*src.Pitch), width); err != nil {
			return err
		}
	}
	return nil
}

// Zero implements driver.Queue.
func (r *recorder) Zero(dst uintptr, n int) error { return r.Fill(dst, []byte{0}, n) }

// Fill implements driver.Filler.
func (r *recorder) Fill(dst uintptr, value []byte, n int) error {
	return r.record(&node{fill: &recordedFill{dst, slices.Clone(value), n}})
}

// UploadFrom implements driver.HostCopier.
func (r *recorder) UploadFrom(dst uintptr, src []byte) error {
	return r.record(&node{host: &recordedHost{dst, src, true}})
}

// DownloadTo implements driver.HostCopier.
func (r *recorder) DownloadTo(dst []byte, src uintptr) error {
	return r.record(&node{host: &recordedHost{src, dst, false}})
}

// Upload implements driver.Queue. It fails, because the memory may change before the graph runs.
func (r *recorder) Upload(uintptr, []byte) error {
	return fmt.Errorf("device: upload of memory that is not pinned: %w", ErrCapture)
}

// Download implements driver.Queue.
func (r *recorder) Download([]byte, uintptr) error {
	return fmt.Errorf("device: download to memory that is not pinned: %w", ErrCapture)
}

// Mark implements driver.Queue.
func (r *recorder) Mark() (driver.Mark, error) {
	return nil, fmt.Errorf("device: event: %w", ErrCapture)
}

// Wait implements driver.Queue.
func (r *recorder) Wait(context.Context) error {
	return fmt.Errorf("device: wait for a stream that records: %w", ErrCapture)
}

// Take implements driver.Queue.
func (r *recorder) Take() (none driver.Outcome) { return none }

// Close implements driver.Queue.
func (r *recorder) Close() error { return nil }
