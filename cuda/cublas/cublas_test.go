package cublas

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/internal/library/librarytest"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// wants demands that err is nil, and that the last call of the library was f with args.
func (b *bench) wants(err error, f function, args ...uintptr) {
	b.Helper()
	b.Wants(err, int(f), append([]uintptr{77}, args...)...)
}

// scalar returns the address of the i-th scalar of a call.
func (b *bench) scalar(i int) uintptr { return uintptr(unsafe.Pointer(&b.handle.call.scalars[i])) }

// TestCalls checks the calls of the library: they compute the equation of the transposed matrices.
func TestCalls(t *testing.T) {
	b := newBench(t)
	defer b.close()
	h, alpha, beta := b.handle, b.scalar(0), b.scalar(1)
	xs, x := librarytest.Array[float32](b.Bench, 100)
	ys, y := librarytest.Array[float32](b.Bench, 100)
	zs, z := librarytest.Array[float32](b.Bench, 100)
	m := func(rows, cols, stride int, d device.Slice[float32]) Matrix[float32] {
		return Matrix[float32]{rows, cols, d, stride}
	}
	v := func(n, inc int, d device.Slice[float32]) Vector[float32] { return Vector[float32]{n, d, inc} }

	b.wants(Axpy(h, 2, v(10, 0, xs), v(10, 3, ys)), axpy, 10, alpha, x, 1, y, 3)
	if got := *(*float32)(unsafe.Pointer(&h.call.scalars[0])); got != 2 {
		t.Errorf("alpha is %v", got)
	}
	b.wants(Scal(h, 2, v(4, 2, xs)), scal, 4, alpha, x, 2)
	b.wants(Copy(h, v(4, 2, xs), v(4, 1, ys)), vectorCopy, 4, x, 2, y, 1)
	b.wants(Swap(h, v(4, 2, xs), v(4, 1, ys)), swap, 4, x, 2, y, 1)
	b.wants(Dot(h, v(4, 1, xs), v(4, 1, ys), zs.Slice(3, 4)), dot, 4, x, 1, y, 1, z+12)
	if !b.fake.onGPU {
		t.Error("the result of Dot is not on the device")
	}
	b.wants(Norm(h, v(4, 1, xs), zs.Slice(0, 1)), nrm2, 4, x, 1, z)
	b.wants(Asum(h, v(4, 1, xs), zs.Slice(0, 1)), asum, 4, x, 1, z)
	b.wants(Iamax(h, v(4, 1, xs), device.View[int64](zs).Slice(0, 1)), iamax, 4, x, 1, z)
	b.wants(Gemv(h, MatrixVector[float32]{A: m(3, 5, 6, xs), X: v(5, 1, ys), Y: v(3, 2, zs)}), gemv,
		1, 5, 3, alpha, x, 6, y, 1, beta, z, 2)
	if b.fake.onGPU {
		t.Error("the scalars of Gemv are not on the host")
	}
	b.wants(Ger(h, OuterProduct[float32]{X: v(3, 1, xs), Y: v(5, 2, ys), A: m(3, 5, 0, zs)}), ger, 5, 3, alpha, y, 2, x, 1, z, 5)
	b.wants(Gemm(h, Product[float32]{A: m(2, 3, 4, xs), B: m(3, 5, 0, ys), C: m(2, 5, 7, zs)}), gemm,
		0, 0, 5, 2, 3, alpha, y, 5, x, 4, beta, z, 7)
	b.wants(Gemm(h, Product[float32]{A: m(3, 2, 0, xs), TransA: true, B: m(3, 5, 0, ys), C: m(2, 5, 7, zs)}), gemm,
		0, 1, 5, 2, 3, alpha, y, 5, x, 2, beta, z, 7)
	b.wants(GemmBatched(h, Batch[float32]{
		Product: Product[float32]{A: m(2, 3, 0, xs), B: m(3, 5, 0, ys), C: m(2, 5, 0, zs)}, N: 2, StrideA: 6, StrideB: 0, StrideC: 10,
	}), gemmBatched, 0, 0, 5, 2, 3, alpha, y, 5, 0, x, 3, 6, beta, z, 5, 10, 2)
	b.wants(Symm(h, Symmetric[float32]{Side: Left, Triangle: Upper, A: m(2, 2, 0, xs), B: m(2, 5, 0, ys), C: m(2, 5, 0, zs)}), symm,
		1, 0, 5, 2, alpha, x, 2, y, 5, beta, z, 5)
	b.wants(Syrk(h, RankK[float32]{Triangle: Lower, A: m(2, 5, 0, xs), C: m(2, 2, 0, zs)}), syrk, 1, 1, 2, 5, alpha, x, 5, beta, z, 2)
	b.wants(Syr2k(h, Rank2K[float32]{A: m(5, 2, 0, xs), B: m(5, 2, 0, ys), C: m(2, 2, 0, zs), Trans: true}), syr2k,
		0, 0, 2, 5, alpha, x, 2, y, 2, beta, z, 2)
	b.wants(Trmm(h, Triangular[float32]{Side: Right, Triangle: Lower, A: m(5, 5, 0, xs), B: m(2, 5, 0, ys), Trans: true}), trmm,
		0, 1, 1, 0, 5, 2, alpha, x, 5, y, 5, y, 5)
	b.wants(Trsm(h, Triangular[float32]{Side: Left, A: m(2, 2, 0, xs), B: m(2, 5, 0, ys), Unit: true}), trsm,
		1, 0, 0, 1, 5, 2, alpha, x, 2, y, 5)
	if got := of[float64](gemm).String(); got != "cublasDgemm_v2_64" {
		t.Errorf("the product of float64 is %s", got)
	}
}

func TestMixed(t *testing.T) {
	b := newBench(t)
	defer b.close()
	xs, x := librarytest.Array[dtype.BF16](b.Bench, 100)
	zs, z := librarytest.Array[float32](b.Bench, 100)
	p := MixedProduct[dtype.BF16, float32]{
		Alpha: 0.5, A: Matrix[dtype.BF16]{Rows: 2, Cols: 3, Data: xs}, B: Matrix[dtype.BF16]{Rows: 3, Cols: 5, Data: xs}, C: Matrix[float32]{Rows: 2, Cols: 5, Data: zs},
	}
	minus1 := ^uintptr(0)
	b.wants(GemmEx(b.handle, p), gemmBatchedEx, 0, 0, 5, 2, 3, b.scalar(0), x, 14, 5, 0, x, 14, 3, 0, b.scalar(1), z, 0, 5, 0, 1, 68, minus1)
	if got := *(*float32)(unsafe.Pointer(&b.handle.call.scalars[0])); got != 0.5 {
		t.Errorf("alpha is %v", got)
	}
	is, i := librarytest.Array[int8](b.Bench, 100)
	js, j := librarytest.Array[int32](b.Bench, 100)
	q := MixedProduct[int8, int32]{
		Alpha: 3, A: Matrix[int8]{Rows: 4, Cols: 4, Data: is}, B: Matrix[int8]{Rows: 4, Cols: 4, Data: is}, C: Matrix[int32]{Rows: 4, Cols: 4, Data: js},
		N: 2, StrideA: 16, StrideB: 32, StrideC: 48,
	}
	b.wants(GemmEx(b.handle, q), gemmBatchedEx, 0, 0, 4, 4, 4, b.scalar(0), i, 3, 4, 32, i, 3, 4, 16, b.scalar(1), j, 10, 4, 48, 2, 72, minus1)
	if got := *(*int32)(unsafe.Pointer(&b.handle.call.scalars[0])); got != 3 {
		t.Errorf("alpha is %v", got)
	}
}

func TestShapes(t *testing.T) {
	b := newBench(t)
	defer b.close()
	d, _ := librarytest.Array[float32](b.Bench, 20)
	m := func(rows, cols int) Matrix[float32] { return Matrix[float32]{Rows: rows, Cols: cols, Data: d} }
	v := func(n int) Vector[float32] { return Vector[float32]{N: n, Data: d} }
	for what, f := range map[string]func() error{
		"columns of A and rows of B: 3 and 4":               func() error { return Gemm(b.handle, Product[float32]{A: m(2, 3), B: m(4, 5), C: m(2, 5)}) },
		"C: 5 rows of 5 elements, stride 5, in 20 elements": func() error { return Gemm(b.handle, Product[float32]{A: m(5, 2), B: m(2, 5), C: m(5, 5)}) },
		"x: 21 elements, increment 1, in 20 elements":       func() error { return Scal(b.handle, 1, v(21)) },
		"lengths of x and y: 3 and 4":                       func() error { return Copy(b.handle, v(3), v(4)) },
		"2 elements for one result":                         func() error { return Norm(b.handle, v(3), d.Slice(0, 2)) },
		"A: 2 matrices, stride 20, in 20 elements": func() error {
			return GemmBatched(b.handle, Batch[float32]{Product: Product[float32]{A: m(1, 1), B: m(1, 1), C: m(1, 1)}, N: 2, StrideA: 20})
		},
		"rows and columns of A: 2 and 3: shapes do not": func() error { return Trsm(b.handle, Triangular[float32]{A: m(2, 3), B: m(2, 5)}) },
	} {
		err := f()
		if !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want %s", err, what)
		}
		if err := b.Stream.Synchronize(context.Background()); !errors.Is(err, ErrShape) {
			t.Errorf("the stream returned %v", err)
		}
	}
	if b.Number != 0 {
		t.Errorf("the library was called: %v", function(b.Number))
	}
}

func TestNoAllocations(t *testing.T) {
	b := newBench(t)
	defer b.close()
	d, _ := librarytest.Array[float32](b.Bench, 20)
	p := Product[float32]{A: Matrix[float32]{2, 3, d, 0}, B: Matrix[float32]{3, 2, d, 0}, C: Matrix[float32]{2, 2, d, 0}}
	if n := testing.AllocsPerRun(100, func() { b.Check(Gemm(b.handle, p)) }); n != 0 {
		t.Errorf("%v allocations a call, want 0", n)
	}
}

// TestStreams checks which streams the library uses: the handle's own, and those that record.
func TestStreams(t *testing.T) {
	b := newBench(t)
	d, _ := librarytest.Array[float32](b.Bench, 20)
	v := Vector[float32]{N: 20, Data: d}
	b.Check(Scal(b.handle, 2, v))
	own := b.fake.stream
	if own == 0 || b.fake.memory == 0 {
		t.Errorf("the stream is %x, its memory at %x", own, b.fake.memory)
	}
	var recording uintptr
	g, err := b.Device.Capture(func(s *device.Stream) error {
		err := Scal(b.handle.On(s), 2, v)
		recording = b.fake.stream
		return err
	})
	b.Check(err)
	if recording == own || recording == 0 || b.fake.memory == 0 {
		t.Errorf("recorded on stream %x, memory %x", recording, b.fake.memory)
	}
	b.Check(Scal(b.handle, 2, v))
	if b.fake.stream != own {
		t.Errorf("then on stream %x", b.fake.stream)
	}
	b.Check(g.Close())
	b.Check(b.Device.Trim())
	b.close()
	if err := Scal(b.handle, 2, v); err == nil {
		t.Error("a closed handle works")
	}
	if err := b.handle.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

// TestEveryFailure lets each call of the library fail in turn.
func TestEveryFailure(t *testing.T) {
	librarytest.EveryFailure(t, int32(InternalError), work, func(err error) bool {
		return errors.Is(err, InternalError) && strings.Contains(err.Error(), "CUBLAS_STATUS_INTERNAL_ERROR")
	})
}

// work uses a handle and returns the errors.
func work(b *librarytest.Bench) error {
	h, err := newHandle(benchOf(b).library, b.Stream)
	if err != nil {
		return err
	}
	d, err := device.MakeDirty[float64](b.Stream, 20)
	if err != nil {
		return err
	}
	v := Vector[float64]{N: 10, Data: d.All()}
	_, _, err = h.Version()
	err = errors.Join(err, h.SetPrecision(TF32), Scal(h, 2, v), Dot(h, v, v, d.Slice(19, 20)))
	return errors.Join(err, b.Stream.Synchronize(context.Background()), h.Close(), d.Close())
}

// TestDriverFails lets the driver calls that a handle needs fail.
func TestDriverFails(t *testing.T) {
	b := newBench(t)
	b.Check(b.handle.Close())
	b.Check(b.Stream.Device().Trim()) // which frees the workspace, so that a new handle allocates one
	for _, f := range []string{"cuMemAllocFromPoolAsync", "cuCtxSetCurrent"} {
		b.Driver.Fail(f, 1, cudasys.NotSupported)
		if _, err := newHandle(b.library, b.Stream); !errors.Is(err, cuda.Status(cudasys.NotSupported)) {
			t.Errorf("%s fails: got %v", f, err)
		}
	}
	if b.fake.handles != 0 {
		t.Errorf("%d handles are left", b.fake.handles)
	}
	b.Close()
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
	if _, err := newHandle(toolkit.Loaded{}, s); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
}

func TestInstalled(t *testing.T) {
	if version, path, err := installed(benchOf(new(librarytest.Bench)).library); version != "10.11.12" || path != "libcublas.so.13" || err != nil {
		t.Errorf("got %s at %s, %v", version, path, err)
	}
	version, path, err := Installed()
	if !errors.Is(err, ErrNoLibrary) && err != nil {
		t.Error(err)
	}
	t.Log(version, path, err)
}

func TestSymbols(t *testing.T) {
	if len(symbols) != int(trsm)+2 {
		t.Errorf("%d symbols for %d functions", len(symbols), int(trsm)+2)
	}
	for f, want := range map[function]string{create: "cublasCreate_v2", gemmBatchedEx: "cublasGemmStridedBatchedEx_64", axpy: "cublasSaxpy_v2_64", trsm: "cublasStrsm_v2_64"} {
		if f.String() != want {
			t.Errorf("function %d is %s, want %s", f, f, want)
		}
	}
	if Status(99).Error() != "CUBLAS_STATUS(99)" {
		t.Error(Status(99))
	}
}
