package cufft

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// fake is a library that remembers how it was called last, and fails where it is told to.
type fake struct {
	function function
	args     []uintptr
	dims     []int64
	plan     []uintptr // of the last plan that was made
	calls    int
	failAt   int // the call that fails, counted from 1
	plans    int // that exist
	stream   uintptr
	memory   uintptr
}

func (f *fake) call(number int, _ toolkit.Before, args []uintptr) int32 {
	f.calls++
	if f.calls == f.failAt {
		return int32(InternalError)
	}
	switch function(number) {
	case create:
		f.plans++
		**(**int32)(unsafe.Pointer(&args[0])) = int32(f.plans)
	case destroy:
		f.plans--
	case setStream:
		f.stream, f.memory = args[1], 0
	case setWorkArea:
		f.memory = args[1]
	case makePlanMany:
		f.dims = append(f.dims[:0], (**(**[3]int64)(unsafe.Pointer(&args[2])))[:args[1]]...)
		f.plan = append(f.plan[:0], args[9], args[10])
		**(**uintptr)(unsafe.Pointer(&args[11])) = 1000
	case setAutoAllocation:
	case getVersion:
		**(**int32)(unsafe.Pointer(&args[0])) = 12002
	default:
		f.function = function(number)
		f.args = append(f.args[:0], args...)
	}
	return 0
}

type bench struct {
	*testing.T
	driver *cudafake.Fake
	fake   *fake
	dev    *device.Device
	stream *device.Stream
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, driver: cudafake.New(cudafake.H200), fake: &fake{}}
	var err error
	b.dev, err = cuda.OpenOn(b.driver.Driver(), 0)
	b.check(err)
	b.stream, err = b.dev.NewStreamTo(io.Discard)
	b.check(err)
	return b
}

func (b *bench) close() {
	b.Helper()
	b.check(b.stream.Close())
	b.check(b.dev.Close())
	if live := b.driver.Live(); live != (cudafake.Live{}) || b.fake.plans != 0 {
		b.Errorf("not freed: %+v, %d plans", live, b.fake.plans)
	}
}

func (b *bench) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// complexPlan is NewComplex with the fake.
func (b *bench) complexPlan(shape Shape) (*Complex[complex64], error) {
	p, err := newPlanOf(library{call: b.fake.call}, b.stream, request{execC2C, shape})
	if err != nil {
		return nil, err
	}
	return &Complex[complex64]{p.on(b.stream), shape}, nil
}

// array is elements on the device, and where they are.
func array[T any](b *bench, n int) (device.Slice[T], uintptr) {
	b.Helper()
	buf, err := device.MakeDirty[T](b.stream, n)
	b.check(err)
	l := b.stream.Loans()
	at := buf.All().Lend(&l)
	b.check(l.Enqueue(func() error { return nil }))
	return buf.All(), at
}

func (b *bench) wants(err error, f function, args ...uintptr) {
	b.Helper()
	b.check(err)
	if b.fake.function != f || !slices.Equal(b.fake.args, args) {
		b.Errorf("%v was called with %x, want %v with %x", b.fake.function, b.fake.args, f, args)
	}
}

func TestComplex(t *testing.T) {
	b := newBench(t)
	defer b.close()
	p, err := b.complexPlan(Shape{Dims: []int{3, 4, 5}, Batch: 2})
	b.check(err)
	if !slices.Equal(b.fake.dims, []int64{3, 4, 5}) || !slices.Equal(b.fake.plan, []uintptr{0x29, 2}) {
		t.Errorf("the plan is for %v, %v", b.fake.dims, b.fake.plan)
	}
	xs, x := array[complex64](b, 120)
	ys, y := array[complex64](b, 120)
	minus1 := ^uintptr(0)
	b.wants(p.Forward(xs, ys), execC2C, 1, x, y, minus1)
	b.wants(p.Inverse(ys, ys), execC2C, 1, y, y, 1)
	if b.fake.memory == 0 || p.on.plan.workspace.Len() != 1000 {
		t.Errorf("memory at %x, %d bytes", b.fake.memory, p.on.plan.workspace.Len())
	}
	if n := testing.AllocsPerRun(100, func() { b.check(p.Forward(xs, ys)) }); n != 0 {
		t.Errorf("%v allocations a call, want 0", n)
	}
	err = p.Forward(xs.Slice(0, 100), ys)
	if !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), "the input has 100 elements, the transform 120") {
		t.Errorf("got %v", err)
	}
	own := b.fake.stream
	g, err := b.dev.Capture(func(s *device.Stream) error { return p.On(s).Forward(xs, ys) })
	b.check(err)
	if b.fake.stream == own || b.fake.memory == 0 {
		t.Error("what is recorded is not on a stream of its own")
	}
	b.check(p.Forward(xs, ys))
	if b.fake.stream != own {
		t.Error("the plan does not come back to its stream")
	}
	b.check(g.Close())
	b.check(b.dev.Trim())
	b.check(p.Close())
	if err := p.Forward(xs, ys); err == nil {
		t.Error("a plan that was closed works")
	}
	if err := p.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	_ = b.stream.Synchronize(context.Background()) // what stuck to it was returned
}

func TestReal(t *testing.T) {
	b := newBench(t)
	defer b.close()
	shape := Shape{Dims: []int{4, 6}}
	to, err := newPlanOf(library{call: b.fake.call}, b.stream, request{execR2C, shape})
	b.check(err)
	back, err := newPlanOf(library{call: b.fake.call}, b.stream, request{execC2R, shape})
	b.check(err)
	p := &Real[float32, complex64]{to.on(b.stream), back.on(b.stream), shape}
	if p.Spectrum() != 16 || !slices.Equal(b.fake.plan, []uintptr{0x2c, 1}) {
		t.Errorf("a spectrum of %d, plan %v", p.Spectrum(), b.fake.plan)
	}
	xs, x := array[float32](b, 24)
	ys, y := array[complex64](b, 16)
	b.wants(p.Forward(xs, ys), execR2C, 1, x, y)
	b.wants(p.Inverse(ys, xs), execC2R, 2, y, x)
	if err := p.Forward(xs, ys.Slice(0, 15)); !errors.Is(err, ErrShape) {
		t.Errorf("got %v", err)
	}
	b.check(p.Close())
	if _, err := NewReal[float32, complex128](b.stream, shape); !errors.Is(err, ErrShape) {
		t.Errorf("mixed types: %v", err)
	}
}

func TestInstalled(t *testing.T) {
	if version, path, err := (library{new(fake).call, "libcufft.so.12"}).installed(); version != "12.0.2" || path != "libcufft.so.12" || err != nil {
		t.Errorf("got %s at %s, %v", version, path, err)
	}
}

func TestShapes(t *testing.T) {
	for _, dims := range [][]int{{}, {0}, {1, 2, 3, 4}, {-1}} {
		if err := (Shape{Dims: dims}).check(); !errors.Is(err, ErrShape) {
			t.Errorf("%v: %v", dims, err)
		}
	}
}

// TestEveryFailure has each call of the library fail in turn.
func TestEveryFailure(t *testing.T) {
	for at := 1; ; at++ {
		b := newBench(t)
		b.fake.failAt = at
		err := b.work()
		b.check(b.stream.Close())
		b.check(b.dev.Close())
		if b.fake.calls < at {
			b.check(err)
			return
		}
		if !errors.Is(err, InternalError) || !strings.Contains(err.Error(), "CUFFT_INTERNAL_ERROR") {
			t.Errorf("call %d fails: got %v", at, err)
		}
		if live := b.driver.Live(); live.Contexts+live.Allocations+live.Streams != 0 {
			t.Errorf("call %d fails: not freed: %+v", at, live)
		}
	}
}

func (b *bench) work() error {
	p, err := b.complexPlan(Shape{Dims: []int{8}})
	if err != nil {
		return err
	}
	x, err := device.MakeDirty[complex64](b.stream, 8)
	if err != nil {
		return err
	}
	err = errors.Join(p.Forward(x.All(), x.All()), b.stream.Synchronize(context.Background()))
	return errors.Join(err, p.Close(), x.Close())
}

func TestOtherDevices(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newPlanOf(library{}, s, request{execC2C, Shape{Dims: []int{4}}}); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
	if len(symbols) != int(execZ2D)+1 || execD2Z.String() != "cufftExecD2Z" || Status(99).Error() != "CUFFT_RESULT(99)" {
		t.Errorf("%d symbols, %v, %v", len(symbols), execD2Z, Status(99))
	}
}
