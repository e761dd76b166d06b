package device_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// fake is a back end that logs its calls. Its addresses are multiples of 4096 without memory.
type fake struct {
	mu      sync.Mutex
	log     []string
	next    uintptr
	fail    map[string]error // by the name of the call
	outcome driver.Outcome   // of the next Take
	waited  func()           // called at the end of the next Wait, or nil
	params  []uint64         // of the last launch
}

// call logs a call and returns the error that fail contains for it.
func (f *fake) call(name string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, name+fmt.Sprint(args...))
	return f.fail[name]
}

// took returns the calls since the previous took.
func (f *fake) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := f.log
	f.log = nil
	return log
}

func (f *fake) Info() device.Info {
	return device.Info{Kind: "fake", Name: "Fake", Limits: driver.Limits{
		ThreadsPerBlock: 64, Block: [3]int{64, 32, 4}, Grid: [3]int{1000, 100, 10}, SharedPerBlock: 512,
		SharedDynamic: 800, ClusterBlocks: 4,
	}}
}

func (f *fake) Allocate(size int) (driver.Memory, error) {
	if err := f.call("allocate", size); err != nil {
		return nil, err
	}
	f.next += 4096
	return fakeMemory{f, f.next}, nil
}

func (f *fake) NewQueue() (driver.Queue, error) { return fakeQueue{f}, f.call("queue") }
func (f *fake) Close() error                    { return f.call("close") }

type fakeMemory struct {
	f  *fake
	at uintptr
}

func (m fakeMemory) Address() uintptr { return m.at }
func (m fakeMemory) Free() error      { return m.f.call("free", m.at) }

type fakeQueue struct{ f *fake }

func (q fakeQueue) Launch(p *driver.Plan) error {
	q.f.params = slices.Clone(unsafe.Slice((*uint64)(p.Params()), (p.Kernel().ParamBytes+7)/8))
	return q.f.call("launch", p.Kernel().Name)
}

func (q fakeQueue) Upload(dst uintptr, src []byte) error {
	return q.f.call("upload", dst, " ", len(src))
}
func (q fakeQueue) Download(dst []byte, src uintptr) error {
	return q.f.call("download", src, " ", len(dst))
}
func (q fakeQueue) Copy(dst, src uintptr, n int) error { return q.f.call("copy", dst, src, n) }
func (q fakeQueue) Zero(dst uintptr, n int) error      { return q.f.call("zero", dst, n) }
func (q fakeQueue) Mark() (driver.Mark, error)         { return fakeMark(q), q.f.call("mark") }
func (q fakeQueue) Close() error                       { return q.f.call("closequeue") }

func (q fakeQueue) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("fake: %w", err)
	}
	err := q.f.call("wait")
	if f := q.f.waited; f != nil {
		q.f.waited = nil
		f()
	}
	return err
}

func (q fakeQueue) Take() driver.Outcome {
	out := q.f.outcome
	q.f.outcome = driver.Outcome{}
	return out
}

type fakeMark struct{ f *fake }

func (m fakeMark) Since(driver.Mark) (time.Duration, error) { return time.Second, m.f.call("since") }
func (m fakeMark) Free() error                              { return m.f.call("freemark") }

// newFake returns a fake, a device with the fake as its back end, and a stream that prints to w.
func newFake(t testing.TB, w io.Writer) (*fake, *device.Device, *device.Stream) {
	t.Helper()
	f := &fake{fail: map[string]error{}}
	d := device.New(f)
	s, err := d.NewStreamTo(w)
	must(t, err)
	return f, d, s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantLog compares the log of the fake with want.
func wantLog(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if got := f.took(); !slices.Equal(got, want) {
		t.Errorf("the back end was called for %q, want %q", got, want)
	}
}

func wants(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want an error that is %q", what, err, want)
	}
}

// args is the Go struct that has the parameters of kernel as fields.
type args struct {
	x    []int16
	flag bool
	n    int32
	y    []point
	at   point
}

type point struct{ X, Y float32 }

// kernel has parameters of all sorts.
func kernel() *driver.Kernel {
	var a args
	return &driver.Kernel{
		Name: "mix",
		Params: []driver.Param{
			{Name: "x", Offset: int(unsafe.Offsetof(a.x)), Size: 24, Elem: 2},
			{Name: "flag", Offset: int(unsafe.Offsetof(a.flag)), Size: 1},
			{Name: "n", Offset: int(unsafe.Offsetof(a.n)), Size: 4},
			{Name: "y", Offset: int(unsafe.Offsetof(a.y)), Size: 24, Elem: 8},
			{Name: "at", Offset: int(unsafe.Offsetof(a.at)), Size: 8},
		},
		ParamBytes: int(unsafe.Sizeof(a)) + driver.HiddenBytes,
	}
}

// plan returns a launch of k with all its arguments.
func plan(s *device.Stream, k *driver.Kernel, x device.Slice[int16], y device.Slice[point]) *driver.Plan {
	p := s.Plan(k, device.Cover(100, 32))
	x.Pass(p)
	driver.Pass(p, true)
	driver.Pass(p, int32(-2))
	y.Pass(p)
	driver.Pass(p, point{1, 2})
	return p
}
