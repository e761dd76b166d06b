package vulkan

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

const (
	mostCommands    = 4096 // after which a queue waits for what it has collected
	startedCommands = 64   // that a queue starts without waiting: the device runs them while the host records more
)

// queue implements driver.Queue and driver.Asynchronous. It collects commands, which are started together. The lock of the device guards all fields.
type queue struct {
	backend  *backend
	pool     vulkansys.CommandPool
	commands vulkansys.CommandBuffer   // is being recorded
	buffers  []vulkansys.CommandBuffer // of the pool: the first ones have been started since the last wait
	next     int                       // the buffer after commands
	fence    vulkansys.Fence
	count    int          // of commands that are collected, since the last wait
	started  bool         // they run, after a wait that ended early
	since    time.Time    // when they were started
	epoch    int          // increases when they are done
	stage    stage        // for data
	blocks   stage        // for parameter blocks that are not in push constants
	env      *environment // nil until a kernel needs it
	launches uint32
	reads    []read
	queries  vulkansys.QueryPool // 0 until a mark needs it
	marks    []*mark             // among the collected commands
	followed []*queue            // whose commands are done when the collected commands are
	failed   error
	left     driver.Outcome
	closed   bool
}

// read is a copy to make when the commands are done.
type read struct{ to, from []byte }

// NewQueue implements driver.Backend.
func (b *backend) NewQueue() (driver.Queue, error) {
	q, err := b.newQueue()
	if err != nil {
		return nil, err
	}
	return q, nil
}

func (b *backend) newQueue() (*queue, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return nil, err
	}
	q := &queue{backend: b, stage: stage{backend: b, flags: hostMemory}, blocks: stage{backend: b, flags: nearMemory}}
	var err error
	if q.pool, err = b.CreateCommandPool(b.device, b.family); err == nil {
		q.fence, err = b.CreateFence(b.device)
	}
	if err != nil {
		q.free()
		return nil, fmt.Errorf("vulkan: making a stream: %w", outOfMemory(err))
	}
	b.queues = append(b.queues, q)
	return q, nil
}

// work calls f, which records commands, with the lock held. Work that follows a failure is left out.
func (q *queue) work(f func() error) error {
	q.backend.mu.Lock()
	defer q.backend.mu.Unlock()
	if err := q.usable(); err != nil {
		return err
	}
	if q.failed != nil {
		return nil
	}
	for q.started {
		q.finish()
		if err := q.usable(); err != nil { // another goroutine has closed the queue
			return err
		}
	}
	if q.count == 0 {
		if err := q.record(); err != nil {
			return fmt.Errorf("vulkan: %w", err)
		}
	}
	q.count++
	if err := f(); err != nil || q.count == 0 {
		return err
	}
	q.backend.Barrier(q.commands)
	switch {
	case q.count >= mostCommands || max(q.stage.used, q.blocks.used) > mostStaged:
		q.finish()
	case q.count%startedCommands == 0:
		if err := errors.Join(q.run(0), q.record()); err != nil {
			q.fail(errors.Join(err, q.backend.WaitIdle(q.backend.device)))
			q.forget()
		}
	}
	return nil
}

// record begins the next command buffer.
func (q *queue) record() error {
	b := q.backend
	if q.next == len(q.buffers) {
		c, err := b.AllocateCommandBuffer(b.device, q.pool)
		if err != nil {
			return err
		}
		q.buffers = append(q.buffers, c)
	}
	q.commands = q.buffers[q.next]
	q.next++
	return b.Begin(q.commands)
}

// run starts the commands that are being recorded. It signals the fence, unless that is 0, when these and all commands before them are done.
func (q *queue) run(f vulkansys.Fence) error {
	b := q.backend
	if f != 0 {
		b.HostBarrier(q.commands)
	}
	if err := b.End(q.commands); err != nil {
		return err
	}
	b.submitting.Lock()
	defer b.submitting.Unlock()
	return b.Submit(b.queue, vulkansys.NewSubmitInfo(q.commands), f)
}

// open returns an error once the stream or the device is closed.
func (q *queue) open() error {
	if err := q.backend.open(); err != nil {
		return err
	}
	if q.closed {
		return fmt.Errorf("vulkan: stream %w", driver.ErrClosed)
	}
	return nil
}

// usable returns an error once the stream is closed, or the device is closed or lost.
func (q *queue) usable() error {
	if err := q.open(); err != nil {
		return err
	}
	return q.backend.usable()
}

// Launch implements driver.Queue.
func (q *queue) Launch(p *driver.Plan) error {
	return q.work(func() error {
		b := q.backend
		if err := p.Closed(); err != nil { // a buffer that is closed from here on waits for the lock, and is freed after the launch
			return err
		}
		l := b.load(p)
		if l.err != nil {
			return l.err
		}
		k := p.Kernel()
		v := &k.Variants[l.variant]
		var env uint64
		if k.Environment() {
			if err := q.environment(); err != nil {
				return err
			}
			env = q.env.memory.address
		}
		p.SetHidden(v, env, q.launches, l.number)
		q.launches++
		// The view of the plan's parameter block lives only as long as this call runs.
		block := unsafe.Slice((*byte)(p.Params()), v.ParamBytes(k))
		if !l.pushed {
			s, err := q.blocks.take(max(len(block), 1))
			if err != nil {
				return err
			}
			copy(s.host, block)
			block = binary.LittleEndian.AppendUint64(nil, s.address)
		}
		groups := v.Blocks(p)
		for i, n := range l.cluster {
			groups[i] /= max(1, n)
		}
		q.dispatch(l, block, groups)
		return nil
	})
}

// dispatch records a kernel with its parameter block, or with the block's address.
func (q *queue) dispatch(l *loaded, params []byte, blocks [3]int) {
	push := make([]byte, 8, 8+len(params)+3)
	if l.data != nil {
		binary.LittleEndian.PutUint64(push, l.data.address)
	}
	push = append(push, params...)
	push = push[:(len(push)+3)&^3]
	q.backend.BindPipeline(q.commands, l.pipeline)
	q.backend.PushConstants(q.commands, q.backend.layout, push)
	q.backend.Dispatch(q.commands, uint32(blocks[0]), uint32(blocks[1]), uint32(blocks[2]))
}

// Upload implements driver.Queue.
func (q *queue) Upload(dst uintptr, src []byte) error {
	return q.pieces(len(src), func(at, n int) error {
		s, err := q.stage.take(n)
		if err != nil {
			return err
		}
		copy(s.host, src[at:])
		to, offset, err := q.backend.at(uint64(dst)+uint64(at), n)
		if err != nil {
			return err
		}
		q.backend.CopyBuffer(q.commands, s.buffer, to.handle, vulkansys.BufferCopy{From: s.offset, To: offset, Size: uint64(n)})
		return nil
	})
}

// Download implements driver.Queue.
func (q *queue) Download(dst []byte, src uintptr) error {
	return q.pieces(len(dst), func(at, n int) error {
		s, err := q.stage.take(n)
		if err != nil {
			return err
		}
		from, offset, err := q.backend.at(uint64(src)+uint64(at), n)
		if err != nil {
			return err
		}
		q.backend.CopyBuffer(q.commands, from.handle, s.buffer, vulkansys.BufferCopy{From: offset, To: s.offset, Size: uint64(n)})
		q.reads = append(q.reads, read{dst[at : at+n], s.host})
		return nil
	})
}

// pieces records a transfer of n bytes in pieces that fit the stage.
func (q *queue) pieces(n int, f func(at, n int) error) error {
	for at := 0; at < n; at += stageBytes {
		if err := q.work(func() error { return f(at, min(n-at, stageBytes)) }); err != nil {
			return err
		}
	}
	return nil
}

// Copy implements driver.Queue.
func (q *queue) Copy(dst, src uintptr, n int) error {
	if n == 0 {
		return nil
	}
	return q.work(func() error {
		to, toOffset, err := q.backend.at(uint64(dst), n)
		if err != nil {
			return err
		}
		from, fromOffset, err := q.backend.at(uint64(src), n)
		if err != nil {
			return err
		}
		q.backend.CopyBuffer(q.commands, from.handle, to.handle, vulkansys.BufferCopy{From: fromOffset, To: toOffset, Size: uint64(n)})
		return nil
	})
}

// Zero implements driver.Queue. Vulkan clears words; zeros are copied to the bytes before and after them.
func (q *queue) Zero(dst uintptr, n int) error {
	head := min(n, int(-dst&3))
	tail := (n - head) & 3
	for _, part := range [][2]int{{0, head}, {n - tail, tail}} {
		if part[1] > 0 {
			if err := q.Upload(dst+uintptr(part[0]), make([]byte, part[1])); err != nil {
				return err
			}
		}
	}
	words := n - head - tail
	if words == 0 {
		return nil
	}
	return q.work(func() error {
		to, offset, err := q.backend.at(uint64(dst)+uint64(head), words)
		if err != nil {
			return err
		}
		q.backend.ClearBuffer(q.commands, to.handle, offset, uint64(words))
		return nil
	})
}

// finish starts the collected commands and waits for them. The lock is held, except between polls.
func (q *queue) finish() { _ = q.finishBy(context.Background()) } // which is never done

// poll is how long a wait for the device does not look at its context, in nanoseconds.
const poll = uint64(5 * time.Millisecond)

// finishBy is finish until the context is done; the work continues then. A failure is kept for Wait.
func (q *queue) finishBy(ctx context.Context) error {
	if q.count == 0 {
		return nil
	}
	b, epoch := q.backend, q.epoch
	err := q.start()
	for done := false; err == nil; {
		if b.hung {
			return ErrLost
		}
		if done, err = b.WaitFence(b.device, q.fence, poll); done || err != nil {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b.mu.Unlock() // a kernel that hangs must not block other goroutines
		b.mu.Lock()
		if q.epoch != epoch {
			return nil // another goroutine has waited to the end
		}
	}
	if err == nil {
		err = errors.Join(q.readMarks(), b.ResetFence(b.device, q.fence), b.ResetCommandPool(b.device, q.pool))
	}
	if err != nil {
		q.fail(err)
	} else {
		for _, r := range q.reads {
			copy(r.to, r.from)
		}
	}
	followed := q.followed
	q.forget()
	for _, o := range followed {
		if o.started {
			o.finish() // at once; whoever has waited for q may read what o has downloaded
		}
	}
	return nil
}

// settle is finish for a call that then frees what the commands use. A GPU without a watchdog may never end a kernel. If the commands
// have not ended long after their start, the device counts as lost, and nothing is freed any more.
func (q *queue) settle() error {
	b, since := q.backend, time.Now()
	if q.started {
		since = q.since
	}
	ctx, cancel := context.WithDeadline(context.Background(), since.Add(b.patience))
	defer cancel()
	if q.finishBy(ctx) != nil {
		b.lost, b.hung = true, true
	}
	if b.hung {
		return ErrLost
	}
	return nil
}

// forget forgets the collected commands, which are done or have failed.
func (q *queue) forget() {
	q.count, q.next, q.started, q.reads, q.marks, q.followed = 0, 0, false, nil, q.marks[:0], nil
	q.epoch++
	q.stage.reset()
	q.blocks.reset()
}

// fail records a failure for Wait. Once the driver reports that the device is lost, all of its streams are.
func (q *queue) fail(err error) {
	var e *vulkansys.Error
	if errors.As(err, &e) && e.Result == vulkansys.DeviceLost {
		q.backend.lost = true
		q.failed = fmt.Errorf("%w: %w", ErrLost, err)
		return
	}
	q.failed = fmt.Errorf("vulkan: %w", outOfMemory(err))
}

// start starts the collected commands unless they run.
func (q *queue) start() error {
	if q.started {
		return nil
	}
	q.started, q.since = true, time.Now()
	return q.run(q.fence)
}

// Wait implements driver.Queue.
func (q *queue) Wait(ctx context.Context) error {
	q.backend.mu.Lock()
	defer q.backend.mu.Unlock()
	if err := q.usable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := q.finishBy(ctx); err != nil {
		return err
	}
	if err := q.open(); err != nil { // another goroutine has closed the queue
		return err
	}
	left, damaged := q.take()
	q.left.Add(left)
	err := q.failed
	q.failed = nil
	return errors.Join(err, damaged)
}

// Take implements driver.Queue.
func (q *queue) Take() driver.Outcome {
	q.backend.mu.Lock()
	defer q.backend.mu.Unlock()
	out := q.left
	q.left = driver.Outcome{}
	return out
}

// Close implements driver.Queue.
func (q *queue) Close() error {
	b := q.backend
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := q.open(); err != nil {
		return err
	}
	q.closed = true // so that other goroutines leave it alone
	if err := q.settle(); err != nil {
		return err
	}
	if i := slices.Index(b.queues, q); i >= 0 { // else the device was closed meanwhile
		b.queues = slices.Delete(b.queues, i, i+1)
		q.free()
	}
	return nil
}

// free frees what the queue has; no command runs.
func (q *queue) free() {
	b := q.backend
	b.DestroyFence(b.device, q.fence)
	b.DestroyCommandPool(b.device, q.pool)
	b.DestroyQueryPool(b.device, q.queries)
	q.stage.free()
	q.blocks.free()
	if q.env != nil {
		q.env.memory.free()
	}
}
