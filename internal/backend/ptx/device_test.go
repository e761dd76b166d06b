package ptx_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

// bench is the interpreter as a device, with a stream.
type bench struct {
	stream *device.Stream
	output strings.Builder
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dev, err := ptxinterp.OpenWith(ptxinterp.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	var b bench
	if b.stream, err = dev.NewStreamTo(&b.output); err != nil {
		t.Fatal(err)
	}
	return &b
}

// kernel compiles IR whose parameters are one slice of the given element size.
func kernel(t *testing.T, text string, elem int) *driver.Kernel {
	t.Helper()
	r := emit(t, text)
	assembleIfPossible(t, r.PTX)
	m, _ := ir.Parse(text)
	f := m.Funcs[len(m.Funcs)-1]
	return &driver.Kernel{
		Name: f.Name, Package: "test", ParamBytes: f.ParamBytes,
		Params:   []driver.Param{{Name: "x", Size: 24, Elem: elem}},
		Shared:   r.SharedBytes,
		Barriers: r.Barriers,
		Sites:    r.Sites,
		Variants: []driver.Variant{{Target: r.Target, Test: r.Test, PTX: &driver.Text{Code: r.PTX}}},
	}
}

// launchOn runs k on x, which it changes, and returns Synchronize's error.
func launchOn[T any](t *testing.T, b *bench, k *driver.Kernel, g driver.Grid, x []T) error {
	t.Helper()
	buffer, err := device.Upload(b.stream, x)
	if err != nil {
		t.Fatal(err)
	}
	defer buffer.Close()
	p := b.stream.Plan(k, g)
	buffer.All().Pass(p)
	if err := p.Launch(); err != nil {
		t.Fatal(err)
	}
	if err := b.stream.Synchronize(t.Context()); err != nil {
		return err
	}
	if err := device.Download(b.stream, x, buffer); err != nil {
		t.Fatal(err)
	}
	return b.stream.Synchronize(t.Context())
}

const doubling = `kernel double(%0 ptr.global @0, %1 i64 @8) bytes 40 {
b0:
	%2 = tid i32 {0}
	%3 = ctaid i32 {0}
	%4 = ntid i32 {0}
	%5 = mul i32 %3, %4
	%6 = add i32 %5, %2
	%7 = sext i64 %6
	%8 = ult i1 %7, %1
	check %8, %7, %1, %2 "index out of range [%d] with length %d in thread %d"(int64, int64, uint32) !k.go:7:2
	%9 = index ptr.global %0, %7 {4}
	%10 = load i32 %9
	%11 = const i32 -1
	%12 = ne i1 %10, %11
	check %12, %10, %12 "element %d, %t"(int32, bool) !k.go:8:2
	%13 = add i32 %10, %10
	store %9, %13
	ret
}
`

func TestFaults(t *testing.T) {
	b, k := newBench(t), kernel(t, doubling, 4)
	x := []int32{1, 2, 3, 4, 5, 6, 7, 8}
	if err := launchOn(t, b, k, device.Cover(8, 4), x); err != nil || x[7] != 16 {
		t.Fatalf("without a fault: %v, %v", x, err)
	}
	err := launchOn(t, b, k, device.Cover(8, 4), x[:7])
	want := driver.Fault{Kernel: "double", Package: "test", File: "k.go", Line: 7, Message: "index out of range [7] with length 7 in thread 3", Block: [3]int{1}, Thread: [3]int{3}, Launch: 2}
	if f, ok := errors.AsType[*driver.Fault](err); !ok || *f != want {
		t.Errorf("got %+v, want %+v", err, want)
	}
	err = launchOn(t, b, k, device.Cover(4, 4), []int32{1, 2, -1, 4})
	want = driver.Fault{Kernel: "double", Package: "test", File: "k.go", Line: 8, Message: "element -1, false", Thread: [3]int{2}, Launch: 3}
	if f, ok := errors.AsType[*driver.Fault](err); !ok || *f != want {
		t.Errorf("got %+v, want %+v", err, want)
	}
	if err := launchOn(t, b, k, device.Cover(4, 4), x[:4]); err != nil || x[0] != 4 {
		t.Errorf("after a fault: %v, %v", x, err)
	}
}

// TestOneFaultOfMany launches a kernel whose threads all fault: one record is left.
func TestOneFaultOfMany(t *testing.T) {
	b := newBench(t)
	k := kernel(t, `kernel panics(%0 ptr.global @0) bytes 40 {
b0:
	%1 = ctaid i32 {1}
	%2 = tid i32 {2}
	%3 = const f64 0.5
	fault %1, %2, %3 "%d %d %g"(int32, int32, float64) !k.go:3:2
}
`, 4)
	err := launchOn(t, b, k, driver.Grid{Blocks: driver.Dim{X: 2, Y: 3}, Block: driver.Dim{X: 4, Y: 2, Z: 5}}, []int32{0})
	f, ok := errors.AsType[*driver.Fault](err)
	if !ok {
		t.Fatalf("got %v, want a fault", err)
	}
	if want := fmt.Sprintf("%d %d 0.5", f.Block[1], f.Thread[2]); f.Message != want {
		t.Errorf("the record says %q at block %v, thread %v", f.Message, f.Block, f.Thread)
	}
}

func TestPrints(t *testing.T) {
	b := newBench(t)
	k := kernel(t, `kernel says(%0 ptr.global @0) bytes 40 {
b0:
	%1 = ctaid i32 {0}
	%2 = tid i32 {0}
	%3 = trunc i8 %2
	%4 = const i8 -2
	%5 = sub i8 %4, %3
	%6 = utof f32 %2
	%7 = const f32 0.25
	%8 = fadd f32 %6, %7
	%9 = fext f64 %8
	%10 = const i32 0
	%11 = eq i1 %2, %10
	print %1, %2, %5, %5, %8, %9, %11 "%d.%d: %d %d %g %g %t\n"(int32, uint32, int8, uint8, float32, float64, bool) !k.go:3:2
	if %11 b1 b2
b1: <- b0
	%12 = const i64 -9000000000
	print %12, %12, %4, %4 "first %d %d %d %d\n"(int64, uint64, int8, uint8) !k.go:4:2
	jump b2
b2: <- b0 b1
	ret
}
`, 4)
	if err := launchOn(t, b, k, device.Cover(4, 2), []int32{0}); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range 2 {
		fmt.Fprintf(&want, "%d.0: -2 254 0.25 0.25 true\nfirst -9000000000 18446744064709551616 -2 254\n", i)
		fmt.Fprintf(&want, "%d.1: -3 253 1.25 1.25 false\n", i)
	}
	if got := b.output.String(); got != want.String() {
		t.Errorf("printed\n%s\nwant\n%s", got, want.String())
	}
}

// TestPrintsWithoutRoom prints more than there is room for: the rest is counted.
func TestPrintsWithoutRoom(t *testing.T) {
	b := newBench(t)
	k := kernel(t, `kernel floods(%0 ptr.global @0) bytes 40 {
b0:
	%1 = const i32 0
	%2 = const i32 1
	%3 = const i32 500
	jump b1
b1: <- b0 b1
	%4 = phi i32 %1, %5
	print %4 "%d\n"(int32) !k.go:3:2
	%5 = add i32 %4, %2
	%6 = slt i1 %5, %3
	if %6 b1 b2
b2: <- b1
	ret
}
`, 4)
	const threads, rounds = 64, 500
	if err := launchOn(t, b, k, device.Cover(threads, 32), []int32{0}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.output.String()), "\n")
	var lost int
	if _, err := fmt.Sscanf(lines[len(lines)-1], "(%d more", &lost); err != nil {
		t.Fatalf("the last line is %q", lines[len(lines)-1])
	}
	if printed := len(lines) - 1; printed+lost != threads*rounds || printed < 1000 {
		t.Errorf("%d lines and %d lost, want %d together", printed, lost, threads*rounds)
	}
}

// TestSharedReduction runs a block reduction with barriers and an atomic sum of the blocks.
func TestSharedReduction(t *testing.T) {
	b := newBench(t)
	k := kernel(t, `var $sums shared [64]i64

kernel reduce(%0 ptr.global @0, %1 i64 @8) bytes 40 {
b0:
	%2 = var ptr.shared $sums
	%3 = tid i32 {0}
	%4 = ctaid i32 {0}
	%5 = ntid i32 {0}
	%6 = mul i32 %4, %5
	%7 = add i32 %6, %3
	%8 = zext i64 %7
	%9 = index ptr.global %0, %8 {8}
	%10 = load i64 %9
	%11 = zext i64 %3
	%12 = index ptr.shared %2, %11 {8}
	store %12, %10
	barrier
	%13 = const i64 32
	%14 = const i64 0
	%15 = const i32 1
	jump b1
b1: <- b0 b4
	%16 = phi i64 %13, %23
	%17 = slt i1 %11, %16
	if %17 b2 b4
b2: <- b1
	%18 = add i64 %11, %16
	%19 = index ptr.shared %2, %18 {8}
	%20 = load i64 %19
	%21 = load i64 %12
	%22 = add i64 %20, %21
	store %12, %22
	jump b4
b4: <- b1 b2
	barrier
	%23 = lshr i64 %16, %15
	%24 = ne i1 %23, %14
	if %24 b1 b5
b5: <- b4
	%25 = eq i1 %11, %14
	if %25 b6 b7
b6: <- b5
	%26 = load i64 %2
	%27 = const i64 -1
	%28 = add i64 %1, %27
	%29 = index ptr.global %0, %28 {8}
	%30 = atomicadd i64 %29, %26
	jump b7
b7: <- b5 b6
	ret
}
`, 8)
	x := make([]int64, 64*5+1)
	var want int64
	for i := range 64 * 5 {
		x[i] = int64(i*i - 20000)
		want += x[i]
	}
	if err := launchOn(t, b, k, device.Cover(64*5, 64), x); err != nil {
		t.Fatal(err)
	}
	if got := x[len(x)-1]; got != want {
		t.Errorf("the sum is %d, want %d", got, want)
	}
}

// TestMemory runs what the golden files show: locals that start as zeros, nil and pointers
// through the generic space, atomics in every space.
func TestMemory(t *testing.T) {
	b := newBench(t)
	k := kernel(t, `var $cell shared [4]i32
var $table const [4]i32 "\x0a\x00\x00\x00\x14\x00\x00\x00\x1e\x00\x00\x00\x28\x00\x00\x00"

kernel memory(%0 ptr.global @0, %1 i64 @8) bytes 40 {
b0:
	%2 = var ptr.shared $cell
	%3 = alloca ptr.local <[1001]i32>
	%4 = alloca ptr <[3]i32>
	%5 = alloca ptr.local <{i8, f64, [2]i16}>
	%6 = const i64 3
	%7 = index ptr.local %3, %6 {4}
	%8 = const i32 7
	%9 = atomicadd i32 %7, %8
	%10 = atomicadd i32 %7, %8
	%11 = load i32 %7
	store %0, %11
	%12 = offset ptr.local %3 {4000}
	%13 = load i32 %12
	%14 = add i32 %13, %10
	%15 = offset ptr.global %0 {4}
	store %15, %14
	%16 = bitcast ptr %2
	%17 = offset ptr %16 {8}
	store %17, %8
	%18 = offset ptr.shared %2 {8}
	%19 = atomicadd i32 %18, %8
	%20 = atomicadd i32 %17, %19
	%21 = load i32 %18
	%22 = offset ptr.global %0 {8}
	store %22, %21
	%23 = var ptr.const $table
	%24 = bitcast ptr %23
	%25 = index ptr %24, %6 {4}
	%26 = load i32 %25
	%27 = bitcast ptr.const %24
	%28 = load i32 %27
	%29 = add i32 %26, %28
	%30 = offset ptr.global %0 {12}
	store %30, %29
	%31 = const ptr.shared 0
	%32 = bitcast ptr %31
	%33 = const ptr 0
	%34 = eq i1 %32, %33
	%35 = ne i1 %2, %31
	%36 = bitcast ptr.local %33
	%37 = const ptr.local 0
	%38 = eq i1 %36, %37
	%39 = and i1 %34, %35
	%40 = and i1 %39, %38
	%41 = zext i32 %40
	%42 = offset ptr.global %0 {16}
	store %42, %41
	%43 = offset ptr %4 {8}
	%44 = load i32 %43
	%45 = offset ptr.local %5 {16}
	%46 = load i16 %45
	%47 = zext i32 %46
	%48 = or i32 %44, %47
	%49 = offset ptr.global %0 {20}
	store %49, %48
	%50 = offset ptr.global %0 {24}
	store %50, %18
	%51 = load ptr.shared %50
	%52 = load i32 %51
	store %50, %52
	ret
}
`, 4)
	x := []int32{-1, -1, -1, -1, -1, -1, -1, -1}
	if err := launchOn(t, b, k, device.Cover(1, 1), x); err != nil {
		t.Fatal(err)
	}
	if want := []int32{14, 7, 21, 50, 1, 0, 21}; !slices.Equal(x[:7], want) {
		t.Errorf("got %v, want %v", x[:7], want)
	}
}

// TestFaultBesideSpin has the threads of one block wait for a flag that the other would have set had it not
// faulted. They leave, and the fault is reported.
func TestFaultBesideSpin(t *testing.T) {
	b := newBench(t)
	k := kernel(t, `kernel waits(%0 ptr.global @0) bytes 40 {
b0:
	%1 = ctaid i32 {0}
	%2 = const i32 0
	%3 = eq i1 %1, %2
	%4 = const i32 1
	if %3 b1 b2
b1: <- b0
	%5 = load i32 %0
	%6 = ne i1 %5, %2
	check %6, %5 "the flag is %d"(int32) !k.go:3:2
	atomicstore %0, %4 {release.device}
	ret
b2: <- b0 b2
	%7 = atomicload i32 %0 {acquire.device}
	%8 = eq i1 %7, %4
	if %8 b3 b2
b3: <- b2
	%9 = index ptr.global %0, %4 {4}
	store %9, %4
	ret
}
`, 4)
	err := launchOn(t, b, k, device.Cover(32, 16), []int32{0, 0})
	if f, ok := errors.AsType[*driver.Fault](err); !ok || f.Message != "the flag is 0" || f.Block != [3]int{} {
		t.Errorf("got %v, want a fault of the first block", err)
	}
	x := []int32{5, 0}
	if err := launchOn(t, b, k, device.Cover(32, 16), x); err != nil || !slices.Equal(x, []int32{1, 1}) {
		t.Errorf("without a fault: %v, %v", x, err)
	}
}
