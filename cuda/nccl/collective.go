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

// ErrLength matches errors of slices whose lengths do not fit a collective.
var ErrLength = device.ErrLength

// Number is what can be exchanged.
type Number interface {
	int8 | uint8 | int32 | uint32 | int64 | uint64 | float32 | float64 | dtype.F16 | dtype.BF16
}

// Op is how numbers are combined.
type Op int

// The operations.
const (
	Sum     Op = 0
	Product Op = 1
	Max     Op = 2
	Min     Op = 3
	Average Op = 4
)

// typeOf returns the library's word for a type (ncclDataType_t).
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

// AllReduce combines the in of all ranks, element by element, and gives the result to each as out.
// They have the same length; out may be in.
func AllReduce[T Number](c *Comm, op Op, in, out device.Slice[T]) error {
	return exchange(c, call[T]{f: allReduce, in: in, out: out, times: [2]int{1, 1}, more: []uintptr{uintptr(op)}})
}

// Reduce is AllReduce with the result for one rank. The out of the others is not written.
func Reduce[T Number](c *Comm, op Op, root int, x Pair[T]) error {
	return exchange(c, call[T]{f: reduce, in: x.In, out: x.Out, times: [2]int{1, 1}, more: []uintptr{uintptr(op), uintptr(root)}})
}

// Pair is the input and the output of a rank.
type Pair[T Number] struct{ In, Out device.Slice[T] }

// Broadcast gives each rank, as out, the in of one. They have the same length.
func Broadcast[T Number](c *Comm, root int, in, out device.Slice[T]) error {
	return exchange(c, call[T]{f: broadcast, in: in, out: out, times: [2]int{1, 1}, more: []uintptr{uintptr(root)}})
}

// AllGather gives each rank the in of all, in the order of the ranks. Out is World times as long
// as in.
func AllGather[T Number](c *Comm, in, out device.Slice[T]) error {
	return exchange(c, call[T]{f: allGather, in: in, out: out, times: [2]int{c.world, 1}})
}

// ReduceScatter combines the in of all ranks, and gives each its part of the result: the first
// that of rank 0. In is World times as long as out.
func ReduceScatter[T Number](c *Comm, op Op, in, out device.Slice[T]) error {
	return exchange(c, call[T]{f: reduceScatter, in: in, out: out, times: [2]int{1, c.world}, more: []uintptr{uintptr(op)}})
}

// Send gives x to another rank, which must Receive it. Ranks that send to each other do both in
// one Group.
func Send[T Number](c *Comm, to int, x device.Slice[T]) error { return point(c, send, to, x) }

// Receive takes x from another rank.
func Receive[T Number](c *Comm, from int, x device.Slice[T]) error { return point(c, receive, from, x) }

// call is a collective. Out is times[0]/times[1] as long as in.
type call[T Number] struct {
	f       function
	in, out device.Slice[T]
	times   [2]int
	more    []uintptr // arguments behind the type
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

// beWatched has the stream's work watched, unless it is. The lock is held.
func (c *Comm) beWatched() {
	if !c.watched {
		c.watched = true
		go c.watch()
	}
}

// runOn calls the library for the stream, and waits until it has enqueued the work: not for the
// work. Within a group the group waits. The lock is held.
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
		go c.fail(err) // when the lock is free
	}
	return err
}

// Group calls f, and has all that f enqueues with these communicators begin together. Sends and
// receives between the same ranks must be in one group, and so must the collectives of several
// ranks of one process. f does not wait, and calls from its own goroutine.
func Group(f func() error, comms ...*Comm) error {
	if len(comms) == 0 {
		return errors.New("nccl: a group without communicators")
	}
	return comms[0].group(f, comms)
}
