package cpu

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// tiers are the tiers that can run every kernel.
var tiers = map[string]tier{"coroutines": coroutines, "goroutines": goroutines}

// openTier returns a device that runs all kernels in one tier.
func openTier(t tier) *device.Device {
	b := newBackend()
	b.tier = func(*driver.Kernel) tier { return t }
	return device.New(b)
}

func TestTiers(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector there is only one tier, which TestBackend tests")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // most of what the tests allocate is garbage
	for name, tier := range tiers {
		t.Run(name, func(t *testing.T) {
			devicetest.TestBackend(t, func() (*device.Device, error) { return openTier(tier), nil })
		})
	}
}

// kernelOf returns f as a kernel that has one parameter, a slice of int32.
func kernelOf(f func(gpu.Thread, []int32)) *driver.Kernel {
	return &driver.Kernel{
		Name:       "kernel",
		Params:     []driver.Param{{Name: "x", Size: 24, Elem: 4}},
		ParamBytes: 24 + driver.HiddenBytes,
		Native: func(ts *gpu.Threads, args unsafe.Pointer) {
			x := *(*[]int32)(args)
			for ts.Next() {
				f(ts.Thread(), x)
			}
		},
	}
}

// barrierKernelOf returns f, which has barriers, as a kernel.
func barrierKernelOf(f func(gpu.Thread, []int32)) *driver.Kernel {
	k := kernelOf(f)
	k.Barriers = true
	return k
}

// launched runs k on a new stream of d over n zeros. It returns the resulting elements and the
// printed text.
func launched(t *testing.T, d *device.Device, k *driver.Kernel, g device.Grid, n int) ([]int32, string, error) {
	t.Helper()
	var out bytes.Buffer
	s, err := d.NewStreamTo(&out)
	if err != nil {
		t.Fatal(err)
	}
	x, err := device.Make[int32](s, n)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Plan(k, g)
	x.All().Pass(p)
	if err := p.Launch(); err != nil {
		t.Fatal(err)
	}
	got := make([]int32, n)
	if err := device.Download(s, got, x); err != nil {
		t.Fatal(err)
	}
	err = s.Synchronize(t.Context())
	if err := errors.Join(x.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return got, out.String(), err
}

// TestLeaving runs threads that leave before barriers, each before a different one.
func TestLeaving(t *testing.T) {
	k := barrierKernelOf(func(t gpu.Thread, x []int32) {
		round := gpu.Shared[int32](t)
		if t.ThreadX() == 0 {
			*round = 0
		}
		t.Sync()
		for i := range t.ThreadX() {
			x[t.GlobalX()] += *round - int32(i)
			t.Sync()
			if t.ThreadX() == t.BlockDimX()-1 {
				*round++
			}
			t.Sync()
		}
		x[t.GlobalX()] += 1000
	})
	for name, tier := range tiers {
		got, _, err := launched(t, openTier(tier), k, device.Cover(96, 32), 96)
		if err != nil || slices.Min(got) != 1000 || slices.Max(got) != 1000 {
			t.Errorf("%s: %v, %v, want 1000 everywhere", name, got, err)
		}
	}
}

// TestSharedIsForgotten runs kernels with different shared variables on one stream, and checks that
// shared memory does not keep data of an earlier block.
func TestSharedIsForgotten(t *testing.T) {
	k := kernelOf(func(t gpu.Thread, x []int32) {
		a, b := gpu.Shared[[7]int32](t), gpu.Shared[float64](t)
		if a[3] != -1 || *b == *b {
			x[t.GlobalX()] = 1
		}
		a[3], *b = 5, 2
	})
	got, _, err := launched(t, openTier(loops), k, device.Cover(50, 1), 50)
	if err != nil || slices.Max(got) != 0 {
		t.Errorf("%v, %v, want 0: shared variables hold garbage at the start of a block", got, err)
	}
}

func TestFaultMessages(t *testing.T) {
	type point struct{ a [3]int32 }
	var nilPoint *point
	var zero int32
	boom := errors.New("boom")
	for want, f := range map[string]func(gpu.Thread, []int32){
		"index out of range [5] with length 4":                                          func(t gpu.Thread, x []int32) { x[t.ThreadX()+3] = 1 },
		"index out of range [-1]":                                                       func(t gpu.Thread, x []int32) { x[1-t.ThreadX()] = 1 },
		"integer divide by zero":                                                        func(t gpu.Thread, x []int32) { x[0] = 7 / zero },
		"slice bounds out of range [:7] with capacity 4":                                func(t gpu.Thread, x []int32) { _ = x[:t.ThreadX()+5] },
		"slice bounds out of range [2:1]":                                               func(t gpu.Thread, x []int32) { _ = x[t.ThreadX():1] },
		"negative shift amount":                                                         func(t gpu.Thread, x []int32) { x[0] <<= 1 - t.ThreadX() },
		"invalid memory address or nil pointer dereference":                             func(t gpu.Thread, x []int32) { x[0] = nilPoint.a[0] },
		"cannot convert slice with length 4 to array or pointer to array with length 8": func(_ gpu.Thread, x []int32) { _ = [8]int32(x) },
		"no way": func(gpu.Thread, []int32) { panic("no way") },
		"boom":   func(gpu.Thread, []int32) { panic(boom) },
		"x is 3": func(gpu.Thread, []int32) { panic(fmt.Sprintf("x is %d", 3)) },
		"42":     func(gpu.Thread, []int32) { panic(42) },
	} {
		k := kernelOf(func(t gpu.Thread, x []int32) {
			switch {
			case t.BlockX() != 3:
			case t.ThreadX() == 2:
				f(t, x)
			default:
				gpu.Shared[int64](t)
			}
		})
		for _, tier := range []tier{loops, coroutines} {
			_, _, err := launched(t, openTier(tier), k, device.Cover(16, 4), 4)
			var fault *device.Fault
			if !errors.As(err, &fault) {
				t.Fatalf("%v, want the fault %q", err, want)
			}
			if fault.Message != want || fault.File != "tier_test.go" || fault.Block != [3]int{3} || fault.Thread != [3]int{2} {
				t.Errorf("fault %v, want %q of block 3, thread 2", fault, want)
			}
		}
	}
}

// TestFaultLine checks the reported line for a panic inside a function of package gpu, and inside a
// function that the kernel calls.
func TestFaultLine(t *testing.T) {
	_, _, here, _ := runtime.Caller(0)
	var none *int32
	for after, f := range map[int]func(gpu.Thread, []int32){
		4: func(gpu.Thread, []int32) { gpu.AtomicAdd(none, 1) },
		5: func(gpu.Thread, []int32) { atomic.AddInt32(none, 1) },
		6: func(gpu.Thread, []int32) { _ = callee(0) },
	} {
		_, _, err := launched(t, openTier(loops), kernelOf(f), device.Cover(1, 1), 0)
		want := here + after - 1
		if after == 6 {
			want = calleeLine
		}
		var fault *device.Fault
		if !errors.As(err, &fault) || fault.File != "tier_test.go" || fault.Line != want {
			t.Errorf("%v, want a fault in line %d", err, want)
		}
	}
}

var calleeLine = func() int { _, _, line, _ := runtime.Caller(0); return line }() + 4

//go:noinline
func callee(n int) int {
	return 1 / n
}

// TestLowestFault lets every block from 700 on fault; the lowest of them faults last.
func TestLowestFault(t *testing.T) {
	k := kernelOf(func(t gpu.Thread, x []int32) {
		if t.BlockX() == 700 {
			for range 100_000 {
				x[0]++
			}
		}
		if t.GlobalX() >= 700*4+1 {
			x[len(x)] = 0
		}
	})
	for range 20 {
		for _, tier := range []tier{loops, coroutines} {
			_, _, err := launched(t, openTier(tier), k, device.Cover(4000, 4), 1)
			var fault *device.Fault
			if !errors.As(err, &fault) || fault.Block != [3]int{700} || fault.Thread != [3]int{1} {
				t.Fatalf("%v, want a fault of block 700, thread 1", err)
			}
		}
	}
}

// TestFaultBesideBarrier lets one thread fault while the others wait.
func TestFaultBesideBarrier(t *testing.T) {
	k := barrierKernelOf(func(t gpu.Thread, x []int32) {
		for i := range 5 {
			if t.ThreadX() == 6 && i == 3 {
				panic("left")
			}
			t.Sync()
		}
		x[t.GlobalX()] = 1
	})
	for name, tier := range tiers {
		got, _, err := launched(t, openTier(tier), k, device.Cover(16, 16), 16)
		var fault *device.Fault
		if !errors.As(err, &fault) || fault.Message != "left" || fault.Thread != [3]int{6} {
			t.Errorf("%s: %v, want the fault of thread 6", name, err)
		}
		want := slices.Repeat([]int32{1}, 16)
		want[6] = 0
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want the other threads to have continued", name, got)
		}
	}
}

func TestPrintsOfOneThreadKeepTheirOrder(t *testing.T) {
	k := barrierKernelOf(func(t gpu.Thread, _ []int32) {
		for i := range 3 {
			gpu.Printf(t, "%d.%d.%d ", t.BlockX(), t.ThreadX(), i)
			t.Sync()
		}
	})
	want := strings.TrimLeft(`
0.0.0 0.0.1 0.0.2 0.1.0 0.1.1 0.1.2 1.0.0 1.0.1 1.0.2 1.1.0 1.1.1 1.1.2 `, "\n")
	for name, tier := range tiers {
		if _, got, err := launched(t, openTier(tier), k, device.Cover(4, 2), 0); got != want || err != nil {
			t.Errorf("%s: printed %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestBlocksRunAtOnce lets the first block wait for the second.
func TestBlocksRunAtOnce(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("there is one core")
	}
	wait := func(t gpu.Thread, x []int32) {
		if t.BlockX() == 1 {
			gpu.AtomicAdd(&x[0], 1)
		}
		for gpu.AtomicAdd(&x[0], 0) == 0 {
			runtime.Gosched()
		}
	}
	for _, k := range []*driver.Kernel{kernelOf(wait), barrierKernelOf(wait)} {
		if got, _, err := launched(t, device.New(newBackend()), k, device.Cover(2, 1), 1); err != nil || got[0] != 1 {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// TestLockedThread launches from a goroutine that is locked to its OS thread, on which coroutines
// created elsewhere must not run.
func TestLockedThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	k := barrierKernelOf(func(t gpu.Thread, x []int32) { t.Sync(); x[t.GlobalX()] = 1 })
	got, _, err := launched(t, openTier(coroutines), k, device.Cover(8, 4), 8)
	if err != nil || slices.Min(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestCollector lets the garbage collector run while kernels hold addresses that it does not see.
func TestCollector(t *testing.T) {
	k := kernelOf(func(t gpu.Thread, x []int32) {
		if t.ThreadX() == 0 {
			runtime.GC()
		}
		x[t.GlobalX()]++
		if t.GlobalX() == 0 {
			_ = x[len(x):]
		}
	})
	got, _, err := launched(t, openTier(loops), k, device.Cover(4096, 512), 4096)
	if err != nil || slices.Min(got) != 1 || slices.Max(got) != 1 {
		t.Errorf("error %v or elements that are not 1", err)
	}
}

// TestStaleLauncher runs a kernel that got a barrier after its launcher was generated.
func TestStaleLauncher(t *testing.T) {
	wait := func(t gpu.Thread, _ []int32) { t.Sync() }
	for _, tier := range []tier{loops, coroutines, goroutines} {
		_, _, err := launched(t, openTier(tier), kernelOf(wait), device.Cover(64, 64), 0)
		var fault *device.Fault
		if !errors.As(err, &fault) || fault.File != "tier_test.go" ||
			fault.Message != "the kernel was compiled without a barrier; regenerate the launchers" {
			t.Errorf("%v, want the fault of a stale launcher", err)
		}
	}
}

func TestNoGoFunction(t *testing.T) {
	k := kernelOf(nil)
	k.Native = nil
	d := openTier(loops)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	p := s.Plan(k, device.Cover(1, 1))
	x, err := device.Make[int32](s, 1)
	if err != nil {
		t.Fatal(err)
	}
	x.All().Pass(p)
	if err := p.Launch(); !errors.Is(err, device.ErrNoVariant) {
		t.Errorf("%v, want %v", err, device.ErrNoVariant)
	}
}

// TestWarpsAloneMeet lets each warp exchange values a different number of times, while some threads
// leave.
func TestWarpsAloneMeet(t *testing.T) {
	k := barrierKernelOf(func(t gpu.Thread, x []int32) {
		v := int32(1)
		for i := range 3 + 2*t.Warp() {
			if t.Lane() == i {
				return
			}
			v = gpu.WarpReduceAdd(t, v)
			t.SyncWarp()
			v = v/int32(31-i) + int32(gpu.Ballot(t, true)>>31)
		}
		x[t.GlobalX()] = v
	})
	for name, tier := range tiers {
		got, _, err := launched(t, openTier(tier), k, device.Cover(128, 64), 128)
		for i := range got {
			want := int32(1)
			if rounds := 3 + 2*(i%64/32); i%32 < rounds {
				want = 0
			} else {
				for range rounds {
					want++
				}
			}
			if err != nil || got[i] != want {
				t.Fatalf("%s: thread %d has %d, want %d (%v)", name, i, got[i], want, err)
			}
		}
	}
}

// TestThreadsThatMissEachOther lets threads wait for what can never happen: each gets a fault, and
// nothing hangs.
func TestThreadsThatMissEachOther(t *testing.T) {
	for want, f := range map[string]func(gpu.Thread){
		"^a thread reached (Match|a vote) while others wait at (Match|a vote)$": func(t gpu.Thread) {
			if t.Lane() < 5 {
				gpu.Ballot(t, true)
			} else {
				gpu.Match(t, 7)
			}
		},
		"^a thread reached Sync.* while others wait at Sync.*$": func(t gpu.Thread) {
			if t.ThreadX() < 5 {
				t.Sync()
			} else {
				t.SyncOr(true)
			}
		},
		"^deadlock: all threads wait, but not for the same operation; one waits at a vote$": func(t gpu.Thread) {
			gpu.Ballot(t, true, ^(1 << (31 - t.Lane()))) // a set of its own for each thread
		},
		"^the set of lanes does not contain the thread$": func(t gpu.Thread) {
			if t.Lane() > 4 {
				gpu.Ballot(t, true, 31)
			}
		},
		"^deadlock: all threads wait, but not for the same operation; one waits at Sync(Warp)?$": func(t gpu.Thread) {
			switch {
			case t.Warp() == 1:
			case t.Lane() < 5:
				t.SyncWarp()
			default:
				t.Sync()
			}
		},
	} {
		for name, tier := range tiers {
			k := barrierKernelOf(func(t gpu.Thread, _ []int32) { f(t) })
			_, _, err := launched(t, openTier(tier), k, device.Cover(64, 64), 0)
			var fault *device.Fault
			if !errors.As(err, &fault) || !regexp.MustCompile(want).MatchString(fault.Message) || fault.File != "tier_test.go" {
				t.Errorf("%s: %v, want the fault %q", name, err, want)
			}
		}
	}
}

// TestMeetingsBringValues tests the operations that combine the values of all threads.
func TestMeetingsBringValues(t *testing.T) {
	k := barrierKernelOf(func(t gpu.Thread, x []int32) {
		i := t.ThreadX()
		if i == 50 {
			return
		}
		x[i] = int32(t.SyncCount(i%2 == 0))
		if t.SyncAnd(i != 50) && !t.SyncAnd(i != 51) && t.SyncOr(i == 51) && !t.SyncOr(i == 50) {
			x[i] += 100
		}
		if gpu.Any(t, i == 40) && !gpu.All(t, i != 40) && gpu.Match(t, i/10) == gpu.Ballot(t, i/10 == 4) {
			x[i] += 1000 * int32(gpu.Shuffle(t, t.Lane(), 44))
		}
	})
	want := make([]int32, 60)
	for i := range want {
		want[i] = 129
		if i >= 40 && i < 50 {
			want[i] += 12000
		}
	}
	want[50] = 0
	for name, tier := range tiers {
		if got, _, err := launched(t, openTier(tier), k, device.Cover(60, 60), 60); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
}

// TestGridBarrier runs blocks that update one number in turn, some of which leave early. All of
// them run at the same time, whatever their number.
func TestGridBarrier(t *testing.T) {
	const blocks, rounds = 40, 5
	k := barrierKernelOf(func(t gpu.Thread, x []int32) {
		b := t.BlockX()
		for i := range rounds {
			if b == 7 && i == 3 || t.ThreadX() == 2 && i == 2 {
				return
			}
			if t.ThreadX() == 0 {
				gpu.AtomicAdd(&x[i], 1)
			}
			t.SyncGrid()
			if want := int32(blocks); x[i] != want && i < 3 {
				x[rounds] = x[i]
			}
			t.SyncGrid()
		}
		if t.ThreadX() == 0 {
			x[rounds+1+b] = 1
		}
	})
	k.Cooperative = true
	want := append([]int32{blocks, blocks, blocks, blocks - 1, blocks - 1, 0}, slices.Repeat([]int32{1}, blocks)...)
	want[rounds+1+7] = 0
	for name, tier := range tiers {
		g := device.Cover(4*blocks, 4)
		if got, _, err := launched(t, openTier(tier), k, g, len(want)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
}

// TestFaultBesideGridBarrier lets one block fault while the others wait for it, and launches more
// threads than can run at the same time.
func TestFaultBesideGridBarrier(t *testing.T) {
	k := barrierKernelOf(func(t gpu.Thread, x []int32) {
		if t.BlockX() == 3 {
			panic("left")
		}
		t.SyncGrid()
	})
	k.Cooperative = true
	for name, tier := range tiers {
		_, _, err := launched(t, openTier(tier), k, device.Cover(64, 8), 0)
		var fault *device.Fault
		if !errors.As(err, &fault) || fault.Message != "left" || fault.Block != [3]int{3} {
			t.Errorf("%s: %v, want the fault of block 3", name, err)
		}
	}
	d := openTier(coroutines)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	p := s.Plan(k, device.Cover(2*maxCooperative, 8))
	x, err := device.Make[int32](s, 1)
	if err != nil {
		t.Fatal(err)
	}
	x.All().Pass(p)
	if err := p.Launch(); !errors.Is(err, device.ErrGrid) {
		t.Errorf("%v, want %v", err, device.ErrGrid)
	}
}
