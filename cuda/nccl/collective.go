package nccl

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// ErrLength matches the errors for slices whose lengths do not match a collective.
var ErrLength = device.ErrLength

// Number is the type of elements that ranks exchange.
type Number interface {
	int8 | uint8 | int32 | uint32 | int64 | uint64 | float32 | float64 | dtype.F16 | dtype.BF16
}

// Op is the operation that combines elements.
type Op int

// The operations.
const (
	Sum     Op = 0
	Product Op = 1
	Max     Op = 2
	Min     Op = 3
	Average Op = 4
)

// typeOf returns the library's constant for a type (ncclDataType_t).
func typeOf[T Number]() uintptr {
	var zero T
	switch any(zero).(type) {
	case int8:
		return 0
	case uint8:
		return 1
	case int32:
		return 2
	case uint32:
		return 3
	case int64:
		return 4
	case uint64:
		return 5
	case dtype.F16:
		return 6
	case float32:
		return 7
	case float64:
		return 8
	}
	return 9 // bfloat16
}

// AllReduce combines the slices src of all ranks element by element, and stores the result in the
// slice dst of every rank. All slices have the same length; dst may be the same slice as src.
func AllReduce[T Number](c *Comm, op Op, src, dst device.Slice[T]) error {
	return exchange(c, call[T]{f: allReduce, in: src, out: dst, times: [2]int{1, 1}, more: []uintptr{uintptr(op)}})
}

// Reduce is like AllReduce, but only rank root receives the result, in x.Out. The Out slices of
// the other ranks are not written.
func Reduce[T Number](c *Comm, op Op, root int, x Pair[T]) error {
	return exchange(c, call[T]{f: reduce, in: x.In, out: x.Out, times: [2]int{1, 1}, more: []uintptr{uintptr(op), uintptr(root)}})
}

// Pair is the input and the output of a rank.
type Pair[T Number] struct{ In, Out device.Slice[T] }

// Broadcast copies the slice src of rank root to the slice dst of every rank. All slices have
// the same length.
func Broadcast[T Number](c *Comm, root int, src, dst device.Slice[T]) error {
	return exchange(c, call[T]{f: broadcast, in: src, out: dst, times: [2]int{1, 1}, more: []uintptr{uintptr(root)}})
}

// AllGather copies the slices src of all ranks, in rank order, to the slice dst of every rank. The
// length of dst is World times the length of src.
func AllGather[T Number](c *Comm, src, dst device.Slice[T]) error {
	return exchange(c, call[T]{f: allGather, in: src, out: dst, times: [2]int{c.world, 1}})
}

// ReduceScatter combines the slices src of all ranks, and distributes the result over the slices
// dst in rank order, starting with rank 0. The length of src is World times the length of dst.
func ReduceScatter[T Number](c *Comm, op Op, src, dst device.Slice[T]) error {
	return exchange(c, call[T]{f: reduceScatter, in: src, out: dst, times: [2]int{1, c.world}, more: []uintptr{uintptr(op)}})
}

// Send sends x to rank peer, which must call Receive. If two ranks send to each other, each must call Send and Receive in one Group.
func Send[T Number](c *Comm, peer int, x device.Slice[T]) error { return point(c, send, peer, x) }

// Receive fills x with the elements sent by rank peer.
func Receive[T Number](c *Comm, peer int, x device.Slice[T]) error { return point(c, receive, peer, x) }

// call is a collective. The length of out is times[0]/times[1] that of in.
type call[T Number] struct {
	f       function
	in, out device.Slice[T]
	times   [2]int
	more    []uintptr // arguments after the type
}

// exchange enqueues a collective.
func exchange[T Number](c *Comm, k call[T]) error {
	if k.in.Len()*k.times[0] != k.out.Len()*k.times[1] {
		return fmt.Errorf("nccl: %v among %d ranks: %d elements in, %d out: %w", k.f, c.world, k.in.Len(), k.out.Len(), ErrLength)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.stream.Loans()
	c.begin(k.f)
	c.put(k.in.Lend(&l), k.out.Lend(&l), uintptr(min(k.in.Len(), k.out.Len())), typeOf[T]())
	c.put(k.more...)
	return c.end(&l)
}

func point[T Number](c *Comm, f function, peer int, x device.Slice[T]) error {
	if peer < 0 || peer >= c.world {
		return fmt.Errorf("nccl: %v: there is no rank %d of %d: %w", f, peer, c.world, InvalidArgument)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.stream.Loans()
	c.begin(f)
	c.put(x.Lend(&l), uintptr(x.Len()), typeOf[T](), uintptr(peer))
	return c.end(&l)
}

func (c *Comm) begin(f function) { c.function, c.n = f, 0 }

func (c *Comm) put(args ...uintptr) { c.n += copy(c.pending[c.n:], args) }

// end enqueues the call. The lock is held.
func (c *Comm) end(l *device.Loans) error {
	if c.stream.Recording() {
		return fmt.Errorf("nccl: %v: %w", c.function, device.ErrCapture)
	}
	if err := l.Enqueue(c.enqueue); err != nil {
		return err
	}
	c.calls.Add(1)
	if !c.grouped {
		c.beWatched()
	}
	return nil
}

// beWatched starts watching the stream's work, unless it is being watched. The lock is held.
func (c *Comm) beWatched() {
	if !c.watched {
		c.watched = true
		go c.watch()
	}
}

// runOn calls the library for the stream, and waits until the library has enqueued the work, but
// not until the work is done. Within a group, the group waits instead. The lock is held.
func (c *Comm) runOn(on cuda.Handle) error {
	if c.closed {
		return fmt.Errorf("nccl: %w", ErrClosed)
	}
	if c.failed != nil {
		return c.failed
	}
	c.put(c.handle, on.Stream)
	s := Status(c.library.Status(int(c.function), toolkit.Before{}, c.pending[:c.n]))
	if s != success && s != inProgress {
		return &Error{c.function.String(), c.rank, s}
	}
	if c.grouped || s == success {
		return nil
	}
	err := c.settled(context.Background())
	if err != nil {
		go c.fail(err) // after the lock is released
	}
	return err
}

// Group calls f, and then starts, all together, the collectives that f has enqueued on comms. If two
// ranks send to each other, the calls of Send and Receive must be in one group. If a process has
// several ranks, their collectives must be in one group. f must not wait, and must not make the
// calls on other goroutines.
func Group(f func() error, comms ...*Comm) error {
	if len(comms) == 0 {
		return errors.New("nccl: a group without communicators")
	}
	return comms[0].group(f, comms)
}
