package cufft

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda/internal/library/librarytest"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// fake is the state of a fake library, apart from the work that is enqueued.
type fake struct {
	dims   []int64
	plan   []uintptr // of the last plan that was made
	plans  int       // that exist
	stream uintptr
	memory uintptr
}

// manage does the work of the functions that enqueue nothing.
func (f *fake) manage(number int, args []uintptr) bool {
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
		return false
	}
	return true
}

// bench is a stream of a fake device and a fake library.
type bench struct {
	*librarytest.Bench
	fake    *fake
	library toolkit.Loaded
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return benchOf(librarytest.New(t, int32(InternalError)))
}

func benchOf(b *librarytest.Bench) *bench {
	f := new(fake)
	return &bench{b, f, known.With("libcufft.so.12", b.Calls(f.manage))}
}

// close closes everything, and checks that nothing is left.
func (b *bench) close() {
	b.Helper()
	b.Close()
	if b.fake.plans != 0 {
		b.Errorf("%d plans are left", b.fake.plans)
	}
}

// complexPlan is NewComplex with the fake.
func (b *bench) complexPlan(shape Shape) (*Complex[complex64], error) {
	p, err := newPlanOf(b.library, b.Stream, request{execC2C, shape})
	if err != nil {
		return nil, err
	}
	return &Complex[complex64]{p.on(b.Stream), shape}, nil
}

func (b *bench) wants(err error, f function, args ...uintptr) {
	b.Helper()
	b.Wants(err, int(f), args...)
}

func TestComplex(t *testing.T) {
	b := newBench(t)
	defer b.close()
	p, err := b.complexPlan(Shape{Dims: []int{3, 4, 5}, Batch: 2})
	b.Check(err)
	if !slices.Equal(b.fake.dims, []int64{3, 4, 5}) || !slices.Equal(b.fake.plan, []uintptr{0x29, 2}) {
		t.Errorf("the plan is for %v, %v", b.fake.dims, b.fake.plan)
	}
	xs, x := librarytest.Array[complex64](b.Bench, 120)
	ys, y := librarytest.Array[complex64](b.Bench, 120)
	minus1 := ^uintptr(0)
	b.wants(p.Forward(xs, ys), execC2C, 1, x, y, minus1)
	b.wants(p.Inverse(ys, ys), execC2C, 1, y, y, 1)
	if b.fake.memory == 0 || p.on.plan.workspace.Len() != 1000 {
		t.Errorf("memory at %x, %d bytes", b.fake.memory, p.on.plan.workspace.Len())
	}
	if n := testing.AllocsPerRun(100, func() { b.Check(p.Forward(xs, ys)) }); n != 0 {
		t.Errorf("%v allocations a call, want 0", n)
	}
	err = p.Forward(xs.Slice(0, 100), ys)
	if !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), "the input has 100 elements, the transform needs 120") {
		t.Errorf("got %v", err)
	}
	own := b.fake.stream
	g, err := b.Device.Capture(func(s *device.Stream) error { return p.On(s).Forward(xs, ys) })
	b.Check(err)
	if b.fake.stream == own || b.fake.memory == 0 {
		t.Error("recorded work is not on a stream of its own")
	}
	b.Check(p.Forward(xs, ys))
	if b.fake.stream != own {
		t.Error("the plan does not return to its stream")
	}
	b.Check(g.Close())
	b.Check(b.Device.Trim())
	b.Check(p.Close())
	if err := p.Forward(xs, ys); err == nil {
		t.Error("a closed plan works")
	}
	if err := p.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	_ = b.Stream.Synchronize(context.Background()) // returns the error that stayed with the stream
}

func TestReal(t *testing.T) {
	b := newBench(t)
	defer b.close()
	shape := Shape{Dims: []int{4, 6}}
	to, err := newPlanOf(b.library, b.Stream, request{execR2C, shape})
	b.Check(err)
	back, err := newPlanOf(b.library, b.Stream, request{execC2R, shape})
	b.Check(err)
	p := &Real[float32, complex64]{to.on(b.Stream), back.on(b.Stream), shape}
	if p.Spectrum() != 16 || !slices.Equal(b.fake.plan, []uintptr{0x2c, 1}) {
		t.Errorf("a spectrum of %d, plan %v", p.Spectrum(), b.fake.plan)
	}
	xs, x := librarytest.Array[float32](b.Bench, 24)
	ys, y := librarytest.Array[complex64](b.Bench, 16)
	b.wants(p.Forward(xs, ys), execR2C, 1, x, y)
	b.wants(p.Inverse(ys, xs), execC2R, 2, y, x)
	if err := p.Forward(xs, ys.Slice(0, 15)); !errors.Is(err, ErrShape) {
		t.Errorf("got %v", err)
	}
	b.Check(p.Close())
	if _, err := NewReal[float32, complex128](b.Stream, shape); !errors.Is(err, ErrShape) {
		t.Errorf("mixed types: %v", err)
	}
}

func TestInstalled(t *testing.T) {
	if version, path, err := installed(benchOf(new(librarytest.Bench)).library); version != "12.0.2" || path != "libcufft.so.12" || err != nil {
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

// TestEveryFailure lets each call of the library fail in turn.
func TestEveryFailure(t *testing.T) {
	librarytest.EveryFailure(t, int32(InternalError), work, func(err error) bool {
		return errors.Is(err, InternalError) && strings.Contains(err.Error(), "CUFFT_INTERNAL_ERROR")
	})
}

func work(bare *librarytest.Bench) error {
	b := benchOf(bare)
	p, err := b.complexPlan(Shape{Dims: []int{8}})
	if err != nil {
		return err
	}
	x, err := device.MakeDirty[complex64](b.Stream, 8)
	if err != nil {
		return err
	}
	err = errors.Join(p.Forward(x.All(), x.All()), b.Stream.Synchronize(context.Background()))
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
	if _, err := newPlanOf(toolkit.Loaded{}, s, request{execC2C, Shape{Dims: []int{4}}}); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
	if len(symbols) != int(execZ2D)+1 || execD2Z.String() != "cufftExecD2Z" || Status(99).Error() != "CUFFT_RESULT(99)" {
		t.Errorf("%d symbols, %v, %v", len(symbols), execD2Z, Status(99))
	}
}
