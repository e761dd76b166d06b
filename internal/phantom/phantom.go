package phantom

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Open returns a device with the description of another one. The caller closes it.
func Open(like device.Info) *device.Device { return device.New(&backend{info: like}) }

// align is the alignment of memory.
const align = 256

// backend is the back end.
type backend struct {
	info device.Info
	next atomic.Uintptr // the address before that of the next memory, in units of align
}

func (b *backend) Info() driver.Info { return b.info }

func (b *backend) Allocate(size int) (driver.Memory, error) {
	n := uintptr(size+align-1) / align
	return memory((b.next.Add(n) - n + 1) * align), nil
}

func (b *backend) NewQueue() (driver.Queue, error) { return queue{}, nil }

func (b *backend) Close() error { return nil }

// memory is an address without memory.
type memory uintptr

func (m memory) Address() uintptr { return uintptr(m) }

func (m memory) Free() error { return nil }

// queue is a queue whose work is nothing.
type queue struct{}

func (queue) Launch(*driver.Plan) error      { return nil }
func (queue) Upload(uintptr, []byte) error   { return nil }
func (queue) Copy(_, _ uintptr, _ int) error { return nil }
func (queue) Zero(uintptr, int) error        { return nil }
func (queue) Mark() (driver.Mark, error)     { return mark{}, nil }
func (queue) Wait(ctx context.Context) error { return ctx.Err() }
func (queue) Take() driver.Outcome           { return driver.Outcome{} }
func (queue) Close() error                   { return nil }

func (queue) Download(dst []byte, _ uintptr) error {
	clear(dst)
	return nil
}

// mark is a mark without time.
type mark struct{}

func (mark) Since(driver.Mark) (time.Duration, error) { return 0, nil }
func (mark) Free() error                              { return nil }
