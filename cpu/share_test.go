package cpu

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// shared returns a launch with the given number of chunks, divided among the given number of
// workers.
func shared(chunks int64, workers int) (*launch, []*worker) {
	l := &launch{kernel: &driver.Kernel{}}
	var list []*worker
	for i := range workers {
		list = append(list, &worker{launch: l, index: i})
	}
	l.share(chunks, workers)
	return l, list
}

// TestSteal lets the second of two workers do all but the first chunk: it repeatedly takes the
// second half of what the first has.
func TestSteal(t *testing.T) {
	l, w := shared(8, 2)
	var got []int64
	for range 2 {
		chunk, _ := w[0].take()
		got = append(got, chunk)
	}
	for chunk, ok := w[1].take(); ok; chunk, ok = w[1].take() {
		got = append(got, chunk)
	}
	if want := []int64{0, 1, 4, 5, 6, 7, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("taken %d, want %d", got, want)
	}
	if !l.exhausted() {
		t.Error("there is another chunk")
	}
}

// TestDrop drops the first half of the chunks. The other half remains.
func TestDrop(t *testing.T) {
	_, w := shared(8, 2)
	w[0].drop()
	if chunk, ok := w[1].take(); chunk != 4 || !ok {
		t.Errorf("chunk %d, %v, want 4", chunk, ok)
	}
}

// TestTakeAll runs with more workers than chunks, with fewer and with as many: each chunk is taken
// by one worker.
func TestTakeAll(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		for _, chunks := range []int64{1, 2, 7, 1000, 30000} {
			_, list := shared(chunks, workers)
			taken := make([]atomic.Int32, chunks)
			var running sync.WaitGroup
			for _, w := range list {
				running.Go(func() {
					for chunk, ok := w.take(); ok; chunk, ok = w.take() {
						taken[chunk].Add(1)
					}
				})
			}
			running.Wait()
			for i := range taken {
				if n := taken[i].Load(); n != 1 {
					t.Fatalf("%d workers took chunk %d of %d %d times", workers, i, chunks, n)
				}
			}
		}
	}
}

// TestRowOfLaunches makes consecutive launches, with coroutines and with twins, of few blocks and
// of many, sometimes so late that no worker is present any more. Every block of each runs once, and
// no worker runs two at a time.
func TestRowOfLaunches(t *testing.T) {
	const most = 300
	var runs [most]atomic.Int32
	var wrong atomic.Int32
	count := func(x int, busy *atomic.Int32) {
		if busy.Add(1) != 1 {
			wrong.Add(1)
		}
		runs[x].Add(1)
		busy.Add(-1)
	}
	var busy sync.Map // the gpu.Blocks of the workers that are running a block
	q := testQueue(t)
	l := &q.launch
	k := &driver.Kernel{
		Name: "count", ParamBytes: driver.HiddenBytes,
		Twin: func(b *gpu.Blocks, _ unsafe.Pointer) {
			flag, _ := busy.LoadOrStore(b, &atomic.Int32{})
			for b.Next() {
				x, _, _ := b.Index()
				count(x, flag.(*atomic.Int32))
			}
		},
		Native: func(ts *gpu.Threads, _ unsafe.Pointer) {
			for ts.Next() {
				count(ts.Thread().BlockX(), &atomic.Int32{})
			}
		},
	}
	var want [most]int32
	for n := range 4000 {
		blocks := []int{1, 2, 50, most}[n/2%4]
		if n%200 == 199 {
			time.Sleep(2 * time.Millisecond)
		}
		l.kernel, l.tier, l.grid, l.dim = k, []tier{coroutines, twins}[n%2], [3]int{blocks, 1, 1}, [3]int{1, 1, 1}
		l.total, l.number = int64(blocks), l.number+1
		l.last.Store(int64(blocks))
		l.work(l.staff())
		for i := range runs {
			if i < blocks {
				want[i]++
			}
			if got := runs[i].Load(); got != want[i] {
				t.Fatalf("launch %d: block %d has run %d times, want %d", n, i, got, want[i])
			}
		}
	}
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d blocks ran while their worker ran another", n)
	}
}

func testQueue(t *testing.T) *queue {
	t.Helper()
	q, err := newBackend().NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return q.(*queue)
}
