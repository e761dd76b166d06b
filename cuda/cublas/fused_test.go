package cublas

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cuda/internal/library/librarytest"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// fakeLt is a cuBLASLt that records its arguments.
type fakeLt struct {
	next, live uintptr
	attributes map[[2]uintptr]uint64 // by object and attribute
	layouts    map[uintptr][4]uintptr
	matmul     []uintptr
	calls      int
	failAt     int // the call that fails, counted from 1
	none       bool
}

func newFakeLt() *fakeLt {
	return &fakeLt{attributes: map[[2]uintptr]uint64{}, layouts: map[uintptr][4]uintptr{}}
}

func (f *fakeLt) library() toolkit.Loaded { return knownLt.With("", f.call) }

func (f *fakeLt) call(number int, _ toolkit.Before, args []uintptr) int32 {
	f.calls++
	if f.calls == f.failAt {
		return int32(InternalError)
	}
	switch ltFunction(number) {
	case descCreate, layoutCreate, preferenceCreate:
		f.next, f.live = f.next+1, f.live+1
		**(**uintptr)(unsafe.Pointer(&args[0])) = f.next
		if ltFunction(number) == layoutCreate {
			f.layouts[f.next] = [4]uintptr(args[1:5])
		}
	case descDestroy, layoutDestroy, preferenceDestroy:
		f.live--
	case descSet, preferenceSet:
		var value uint64
		p := *(*unsafe.Pointer)(unsafe.Pointer(&args[2]))
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&value)), 8), unsafe.Slice((*byte)(p), args[3]))
		f.attributes[[2]uintptr{args[0], args[1]}] = value
	case heuristic:
		if f.none {
			return 0
		}
		**(**algorithm)(unsafe.Pointer(&args[8])) = algorithm{work: 1 << 20}
		**(**int32)(unsafe.Pointer(&args[9])) = 1
	case matmul:
		f.matmul = append(f.matmul[:0], args...)
	}
	return 0
}

// TestFused checks the calls of the library: they compute the equation of the transposed matrices.
func TestFused(t *testing.T) {
	b, lt := newBench(t), newFakeLt()
	defer b.close()
	as, a := librarytest.Array[dtype.F8E4M3](b.Bench, 32*64)
	bs, bb := librarytest.Array[dtype.F8E4M3](b.Bench, 48*64)
	cs, c := librarytest.Array[dtype.BF16](b.Bench, 32*50)
	biases, bias := librarytest.Array[dtype.BF16](b.Bench, 48)
	scales, scale := librarytest.Array[float32](b.Bench, 5)
	p, err := fuse[dtype.F8E4M3, dtype.BF16](b.handle, lt.library(), Fusion{
		M: 32, N: 48, K: 64, TransB: true, Strides: [3]int{2: 50}, Bias: true, Activation: GELU, Scaled: true, FastSums: true,
	})
	b.Check(err)
	o := Operands[dtype.F8E4M3, dtype.BF16]{
		Alpha: 2, Beta: 3, A: as, B: bs, C: cs, Bias: biases, ScaleA: scales.Slice(0, 1), ScaleB: scales.Slice(4, 5),
	}
	b.Check(p.Multiply(o))
	d := p.objects
	wantLayouts := map[uintptr][4]uintptr{d[1]: {28, 64, 48, 64}, d[2]: {28, 64, 32, 64}, d[3]: {14, 48, 32, 50}}
	for object, want := range wantLayouts {
		if got := lt.layouts[object]; got != want {
			t.Errorf("layout %d is %v, want %v", object, got, want)
		}
	}
	for attribute, want := range map[uintptr]uint64{
		descTransA: 1, descTransB: 0, descEpilogue: 36, descBias: uint64(bias), descBiasType: 14,
		descScaleA: uint64(scale + 16), descScaleB: uint64(scale), descFastSums: 1, // the library's A is B
	} {
		if got := lt.attributes[[2]uintptr{d[0], attribute}]; got != want {
			t.Errorf("attribute %d is %#x, want %#x", attribute, got, want)
		}
	}
	if got := lt.attributes[[2]uintptr{d[4], preferenceWork}]; got != 32<<20 {
		t.Errorf("a workspace of %d bytes", got)
	}
	m := lt.matmul
	if got, want := []uintptr{m[0], m[1], m[3], m[4], m[5], m[6], m[8], m[9], m[10], m[11], m[14]},
		[]uintptr{77, d[0], bb, d[1], a, d[2], c, d[3], c, d[3], 1 << 20}; !slices.Equal(got, want) {
		t.Errorf("matmul with %x, want %x", got, want)
	}
	if p.scalars != [2]float32{2, 3} || m[15] == 0 {
		t.Errorf("scalars %v, stream %x", p.scalars, m[15])
	}
	calls := lt.calls
	if n := testing.AllocsPerRun(10, func() { b.Check(p.Multiply(o)) }); n != 0 {
		t.Errorf("%v allocations a call, want 0", n)
	}
	if lt.calls != calls+11 {
		t.Errorf("%d calls for 11 products of the same memory", lt.calls-calls)
	}
	misaligned := o
	misaligned.ScaleB = scales.Slice(3, 4)
	if err := errors.Join(p.Multiply(misaligned), b.Stream.Synchronize(t.Context())); !errors.Is(err, device.ErrAlign) {
		t.Errorf("scale at 12 bytes: %v", err)
	}
	b.Check(p.Close())
	if err := p.Multiply(o); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if err := b.Stream.Synchronize(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("the stream returned %v", err)
	}
	if err := p.Close(); !errors.Is(err, ErrClosed) || lt.live != 0 {
		t.Errorf("closed twice: %v, %d objects live", err, lt.live)
	}
}

// TestFusedOperands checks that operands of wrong sizes are refused.
func TestFusedOperands(t *testing.T) {
	b, lt := newBench(t), newFakeLt()
	defer b.close()
	x, _ := librarytest.Array[float32](b.Bench, 100)
	p, err := fuse[float32, float32](b.handle, lt.library(), Fusion{M: 10, N: 10, K: 10, Bias: true})
	b.Check(err)
	for want, o := range map[string]Operands[float32, float32]{
		"B has 99 elements, the product needs 100":               {A: x, B: x.Slice(0, 99), C: x, Bias: x},
		"the bias has 9 elements, the product needs 10":          {A: x, B: x, C: x, Bias: x.Slice(0, 9)},
		"the scales of A and B have 1 and 0 elements: shapes do": {A: x, B: x, C: x, Bias: x, ScaleA: x.Slice(0, 1)},
	} {
		if err := p.Multiply(o); !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if err := b.Stream.Synchronize(t.Context()); !errors.Is(err, ErrShape) {
			t.Errorf("the stream returned %v", err)
		}
	}
	b.Check(p.Close())
	for _, f := range []Fusion{{M: 0, N: 1, K: 1}, {M: 2, N: 2, K: 2, Strides: [3]int{1}}} {
		if _, err := fuse[float32, float32](b.handle, lt.library(), f); !errors.Is(err, ErrShape) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// TestFusedFailures lets each call of the library fail in turn, and lets the library find no
// algorithm.
func TestFusedFailures(t *testing.T) {
	b, lt := newBench(t), newFakeLt()
	defer b.close()
	f := Fusion{M: 4, N: 4, K: 4, Bias: true, TF32: true}
	p, err := fuse[float32, float32](b.handle, lt.library(), f)
	b.Check(err)
	calls := lt.calls
	b.Check(p.Close())
	for at := 1; at <= calls; at++ {
		lt := newFakeLt()
		lt.failAt = at
		if _, err := fuse[float32, float32](b.handle, lt.library(), f); !errors.Is(err, InternalError) || lt.live != 0 {
			t.Errorf("call %d fails: %v, %d objects live", at, err, lt.live)
		}
	}
	lt.none = true
	if _, err := fuse[float32, float32](b.handle, lt.library(), f); !errors.Is(err, NotSupported) {
		t.Errorf("no algorithm: %v", err)
	}
	if _, err := fuse[int8, int32](b.handle, lt.library(), f); !errors.Is(err, NotSupported) || lt.live != 0 {
		t.Errorf("integers: %v, %d objects live", err, lt.live)
	}
	var recorded uintptr
	lt.none = false
	p, err = fuse[float32, float32](b.handle, lt.library(), Fusion{M: 4, N: 4, K: 4})
	b.Check(err)
	x, _ := librarytest.Array[float32](b.Bench, 16)
	g, err := b.Device.Capture(func(s *device.Stream) error {
		err := p.On(s).Multiply(Operands[float32, float32]{A: x, B: x, C: x})
		recorded = lt.matmul[15]
		return err
	})
	b.Check(err)
	b.Check(p.Multiply(Operands[float32, float32]{A: x, B: x, C: x}))
	if own := lt.matmul[15]; recorded == 0 || own == recorded {
		t.Errorf("recorded on stream %x, then on %x", recorded, own)
	}
	b.Check(g.Close())
	b.Check(p.Close())
	b.Check(b.Device.Trim())
}
