package nccl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/rendezvous"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// Options identify this process in a job, and set the timeout of collectives.
type Options struct {
	Address string // the address of rank 0: "host:port"
	Rank    int    // 0 to World-1
	World   int    // number of processes
	// Secret is a text that only the processes of the job know. If it is empty, anyone who can
	// reach Address can join.
	Secret string
	// Listen is the address on which rank 0 listens. If it is empty, rank 0 listens on Address. Set
	// Listen if Address is not a local address of rank 0's machine.
	Listen string
	// Timeout is the time after which a collective is aborted. 0 means 10 minutes.
	Timeout time.Duration
	// Silence is the time after which a process counts as lost if its connection to rank 0 is
	// silent, for example because its machine has failed. Running processes send messages in the
	// background. 0 means no limit. All processes must set the same Silence.
	Silence time.Duration
}

const usualTimeout = 10 * time.Minute

// Comm is one rank of a communicator: a stream of a GPU that exchanges data with the streams of the
// other ranks. Multiple goroutines may use a Comm simultaneously. All ranks must call the same
// collectives in the same order. Close a Comm before its stream.
type Comm struct {
	library     toolkit.Loaded
	stream      *device.Stream
	rank, world int
	timeout     time.Duration
	member      *rendezvous.Member // nil if all ranks are in this process
	peers       []*Comm            // all ranks, if they are in this process, or nil

	calls atomic.Int64 // collectives that were enqueued, reported to ranks that ask which ranks are late

	mu       sync.Mutex
	closed   bool
	failed   error
	grouped  bool
	watched  bool
	quit     chan struct{}  // closed by Close
	aborting sync.WaitGroup // done when the abort after a failure is complete

	// C code reads and writes the fields below, so the Comm is on the heap.
	handle uintptr
	state  int32
	args   [10]uintptr
	id     [uniqueIDBytes]byte
	config *config

	function function // the call that is being enqueued
	n        int
	pending  [10]uintptr
	run      func(cuda.Handle) error // made once, so that calls allocate nothing
	enqueue  func() error
}

func newComm(l toolkit.Loaded, s *device.Stream, o Options) *Comm {
	c := &Comm{library: l, stream: s, rank: o.Rank, world: o.World, timeout: o.Timeout, quit: make(chan struct{}), config: notBlocking()}
	if c.timeout == 0 {
		c.timeout = usualTimeout
	}
	c.run = c.runOn
	c.enqueue = func() error { return cuda.Do(c.stream, c.run) }
	return c
}

// Join makes this process a rank of a communicator, with the stream s and its device. Join waits
// for the other ranks. If ctx is done first, the error names the missing ranks.
func Join(ctx context.Context, s *device.Stream, o Options) (*Comm, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	return join(ctx, newComm(l, s, o), o)
}

func join(ctx context.Context, c *Comm, o Options) (*Comm, error) {
	if o.Rank == 0 {
		if err := c.invoke(getUniqueID, uintptr(unsafe.Pointer(&c.id))); err != nil {
			return nil, err
		}
	}
	var err error
	meeting := rendezvous.Options{Address: o.Address, Rank: o.Rank, World: o.World, Secret: []byte(o.Secret), Listen: o.Listen, Payload: c.id[:], Silence: o.Silence}
	c.member, err = rendezvous.Join(ctx, meeting, c.calls.Load)
	if err != nil {
		return nil, fmt.Errorf("nccl: %w", err)
	}
	copy(c.id[:], c.member.Payload())
	if err = c.start(); err == nil {
		err = c.settled(ctx)
	}
	if err != nil {
		c.fail(err)
		return nil, errors.Join(err, c.Close())
	}
	go c.watchMembers()
	return c, nil
}

// All makes a communicator within this process, with one rank for each stream. The streams must
// belong to different devices.
func All(ctx context.Context, streams ...*device.Stream) ([]*Comm, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	return all(ctx, l, streams)
}

func all(ctx context.Context, l toolkit.Loaded, streams []*device.Stream) ([]*Comm, error) {
	var comms []*Comm
	for rank, s := range streams {
		comms = append(comms, newComm(l, s, Options{Rank: rank, World: len(streams)}))
	}
	var err error
	for rank, c := range comms {
		c.peers = comms
		if rank == 0 {
			err = c.invoke(getUniqueID, uintptr(unsafe.Pointer(&c.id)))
		}
		c.id = comms[0].id
		if err == nil {
			err = c.start()
		}
	}
	for _, c := range comms {
		if err == nil {
			err = c.settled(ctx)
		}
	}
	if err != nil {
		comms[0].fail(err)
		for _, c := range comms {
			err = errors.Join(err, c.Close())
		}
		return nil, err
	}
	return comms, nil
}

// start begins to initialize the rank.
func (c *Comm) start() error {
	err := cuda.With(c.stream.Device(), func(uintptr) error {
		return c.invoke(initRank, uintptr(unsafe.Pointer(&c.handle)), uintptr(c.world), uintptr(c.rank), 1,
			uintptr(unsafe.Pointer(&c.id)), uintptr(unsafe.Pointer(c.config)))
	})
	runtime.KeepAlive(c)
	return err
}

// invoke calls the library. A call that is still in progress is not an error.
func (c *Comm) invoke(f function, args ...uintptr) error {
	s := Status(c.library.Status(int(f), toolkit.Before{}, c.args[:copy(c.args[:], args)]))
	runtime.KeepAlive(c)
	if s != success && s != inProgress {
		return &Error{f.String(), c.rank, s}
	}
	return nil
}

// busyTime is how long a wait for the library polls without pauses. The library takes some tenths
// of a millisecond to enqueue work, and Go's shortest sleep a whole millisecond.
const (
	busyTime = 2 * time.Millisecond
	pause    = time.Millisecond
)

// settled waits until the library's last call has completed. It gives up if ctx is done, if a rank
// is lost, and after the timeout.
func (c *Comm) settled(ctx context.Context) error {
	began := time.Now()
	for {
		if err := c.invoke(asyncError, c.handle, uintptr(unsafe.Pointer(&c.state))); err != nil {
			return err
		}
		if s := Status(c.state); s == success {
			return nil
		} else if s != inProgress {
			return &Error{asyncError.String(), c.rank, s}
		}
		waited := time.Since(began)
		switch {
		case c.member != nil && c.member.Err() != nil:
			return fmt.Errorf("nccl: rank %d: %w", c.rank, c.member.Err())
		case ctx.Err() != nil:
			return fmt.Errorf("nccl: rank %d: %w after %v", c.rank, ctx.Err(), waited.Round(time.Millisecond))
		case waited > c.timeout:
			return c.late()
		case waited < busyTime:
			runtime.Gosched()
		default:
			time.Sleep(pause)
		}
	}
}

// Rank returns this rank's number.
func (c *Comm) Rank() int { return c.rank }

// Stream returns the stream that the rank enqueues on.
func (c *Comm) Stream() *device.Stream { return c.stream }

// World returns the number of ranks.
func (c *Comm) World() int { return c.world }

// Version returns the library's version, such as "2.28.3", and the path where it was found.
func (c *Comm) Version() (version, path string, err error) {
	return installed(c.library)
}

// Err returns the error that aborted the communicator, or nil.
func (c *Comm) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// Close waits for the stream's work, leaves the job and closes the rank. Every rank must be closed.
// Close waits at most 10 seconds until the other processes have closed their ranks. If a process has
// several ranks, such as those of All, they all leave the communicator when the last of them is closed.
func (c *Comm) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fmt.Errorf("nccl: %w", ErrClosed)
	}
	c.closed = true
	close(c.quit)
	c.mu.Unlock()
	c.aborting.Wait() // the caller may close the device after this
	err := c.giveBack()
	if c.member != nil {
		err = errors.Join(err, c.member.Leave())
	}
	return err
}

// closeTime bounds the wait for the other ranks in Close.
const closeTime = 10 * time.Second

// giveBack ends the communicator. If all ranks are in this process, it ends them together after the
// last Close, because in the library they wait for each other.
func (c *Comm) giveBack() (err error) {
	together := c.peers
	if together == nil {
		together = []*Comm{c}
	}
	for _, m := range together {
		if !m.endable() {
			return nil // another rank will be the last, or the ranks were aborted
		}
	}
	for _, m := range together {
		<-m.stream.Done()
		err = errors.Join(err, m.onDevice(finalize))
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	for _, m := range together {
		f := destroy
		if err == nil {
			err = m.settled(ctx)
		}
		if err != nil {
			f = abort // abort does not wait for other ranks
		}
		err = errors.Join(err, m.onDevice(f))
	}
	return err
}

// endable reports whether the rank was closed, and not aborted.
func (c *Comm) endable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed && c.failed == nil && c.handle != 0
}

// onDevice calls a function of the library for this rank.
func (c *Comm) onDevice(f function) error {
	return cuda.With(c.stream.Device(), func(uintptr) error { return c.invoke(f, c.handle) })
}
