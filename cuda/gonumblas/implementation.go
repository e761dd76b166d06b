package gonumblas

import (
	"context"
	"errors"
	"io"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/device"
)

var (
	_ blas.Float32 = (*Implementation)(nil)
	_ blas.Float64 = (*Implementation)(nil)
)

// leastWork is the number of multiplications from which a call is worth the copies: that of two
// matrices of about 200 by 200. On an H200 with 16 processors, 256 by 256 takes 0.6 ms instead of
// 1.0.
const leastWork = 1 << 23

// mostLanes is the number of calls that use the GPU at the same time; further calls wait.
const mostLanes = 4

// Implementation is gonum's BLAS on a GPU. Multiple goroutines may invoke its methods
// simultaneously.
type Implementation struct {
	gonum.Implementation

	device *device.Device
	least  int
	lanes  chan *lane

	mu     sync.Mutex
	made   int
	closed bool
	err    error
	onGPU  int
}

// lane is a stream and a cuBLAS handle for it.
type lane struct {
	stream *device.Stream
	blas   *cublas.Handle
}

// Open returns the BLAS on the GPU with the given index in cuda.List. It returns an error if there
// is no such GPU or no cuBLAS.
func Open(index int) (*Implementation, error) {
	dev, err := cuda.Open(index)
	if err != nil {
		return nil, err
	}
	i := &Implementation{device: dev, least: leastWork, lanes: make(chan *lane, mostLanes)}
	l, err := i.newLane()
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	i.made = 1
	i.lanes <- l
	return i, nil
}

func (i *Implementation) newLane() (*lane, error) {
	s, err := i.device.NewStreamTo(io.Discard)
	if err != nil {
		return nil, err
	}
	h, err := cublas.New(s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &lane{s, h}, nil
}

// Close closes the GPU. Later calls compute on the CPU.
func (i *Implementation) Close() error {
	i.mu.Lock()
	if i.closed {
		i.mu.Unlock()
		return errors.New("gonumblas: the implementation was closed")
	}
	i.closed = true
	made := i.made
	i.mu.Unlock()
	var err error
	for range made {
		l := <-i.lanes
		err = errors.Join(err, l.blas.Close(), l.stream.Close())
	}
	return errors.Join(err, i.device.Close())
}

// Err returns the first failure of the GPU, or nil. After a failure, calls compute on the CPU.
func (i *Implementation) Err() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.err
}

// Calls returns the number of calls that the GPU has computed.
func (i *Implementation) Calls() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.onGPU
}

// do does some work on the GPU, and reports whether it succeeded.
func (i *Implementation) do(work func(l *lane) error) bool {
	l, err := i.take()
	if l == nil && err == nil {
		return false
	}
	if err == nil {
		err = errors.Join(work(l), l.stream.Synchronize(context.Background()))
		i.lanes <- l
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if err != nil {
		i.err = errors.Join(i.err, err)
		return false
	}
	i.onGPU++
	return true
}

// take returns a lane, or nil if the GPU is closed or has failed.
func (i *Implementation) take() (*lane, error) {
	i.mu.Lock()
	if i.closed || i.err != nil {
		i.mu.Unlock()
		return nil, nil
	}
	select {
	case l := <-i.lanes:
		i.mu.Unlock()
		return l, nil
	default:
	}
	if i.made == mostLanes {
		i.mu.Unlock()
		return <-i.lanes, nil
	}
	defer i.mu.Unlock()
	l, err := i.newLane()
	if err == nil {
		i.made++
	}
	return l, err
}
