package selftest

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// word is what the atomic operations below work on.
type word interface {
	int32 | uint32 | int64 | uint64
}

// cells holds a number for each of the operations in mixAtomics.
type cells[T any] [9]T

// mixAtomics does each atomic operation on integers once, and returns what the exchange did. However
// the threads come, the rest is the same in the end.
func mixAtomics[T word](c *cells[T], v T) T {
	gpu.AtomicAdd(&c[0], v)
	gpu.AtomicSub(&c[1], v, gpu.Release)
	gpu.AtomicMin(&c[2], v)
	gpu.AtomicMax(&c[3], v, gpu.AcquireRelease, gpu.SystemScope)
	gpu.AtomicAnd(&c[4], v|7)
	gpu.AtomicOr(&c[5], v&^1)
	gpu.AtomicXor(&c[6], v)
	for {
		old := gpu.AtomicLoad(&c[7], gpu.Acquire)
		if was, ok := gpu.AtomicCompareAndSwap(&c[7], old, old*3+1, gpu.BlockScope); ok && was == old {
			break
		}
	}
	return gpu.AtomicExchange(&c[8], v, gpu.Sequential)
}

// scrambled returns a number of any size and sign for thread i.
func scrambled[T word](i int) T { return T(uint64(i+1) * 0x9e3779b97f4a7c15 >> 7) }

// contend has all threads of a block work on the same cells, which lie in shared memory, then
// on the first of the grid, and each on cells of its own. All begin as the second of the grid.
func contend[T word](t gpu.Thread, grid, blocks []cells[T], seen []T) {
	shared := gpu.Shared[cells[T]](t)
	if t.ThreadX() == 0 {
		for i := range len(shared) {
			gpu.AtomicStore(&shared[i], grid[1][i])
		}
	}
	t.Sync()
	i := t.GlobalX()
	mixAtomics(shared, scrambled[T](i))
	seen[i] = mixAtomics(&grid[0], scrambled[T](i))
	own := grid[1]
	mixAtomics(&own, scrambled[T](i))
	grid[2+i] = own
	t.Sync()
	if t.ThreadX() == 0 {
		blocks[t.BlockX()] = *shared
	}
}

//gpu:kernel
func contendInt32(t gpu.Thread, grid, blocks []cells[int32], seen []int32) {
	contend(t, grid, blocks, seen)
}

//gpu:kernel
func contendUint32(t gpu.Thread, grid, blocks []cells[uint32], seen []uint32) {
	contend(t, grid, blocks, seen)
}

//gpu:kernel
func contendInt64(t gpu.Thread, grid, blocks []cells[int64], seen []int64) {
	contend(t, grid, blocks, seen)
}

//gpu:kernel
func contendUint64(t gpu.Thread, grid, blocks []cells[uint64], seen []uint64) {
	contend(t, grid, blocks, seen)
}

// contest is a launcher of a kernel that calls contend.
type contest[T word] func(s *device.Stream, g device.Grid, grid, blocks device.Slice[cells[T]], seen device.Slice[T]) error

func checkAtomicInt32(s *session) error  { return checkAtomics(s, ContendInt32) }
func checkAtomicUint32(s *session) error { return checkAtomics(s, ContendUint32) }
func checkAtomicInt64(s *session) error  { return checkAtomics(s, ContendInt64) }
func checkAtomicUint64(s *session) error { return checkAtomics(s, ContendUint64) }

// checkAtomics compares the cells with what one thread after the other leaves, and looks for
// each exchanged number exactly once.
func checkAtomics[T word](s *session, launch contest[T]) error {
	const blocks, block = 6, 96
	start := cells[T]{100, 200, scrambled[T](3), scrambled[T](4), ^T(0), 1, 5, 0, 42}
	grid, err := upload(s, slices.Repeat([]cells[T]{start}, 2+blocks*block))
	if err != nil {
		return err
	}
	each, err := upload(s, make([]cells[T], blocks))
	if err != nil {
		return err
	}
	seen, err := upload(s, make([]T, blocks*block))
	if err != nil {
		return err
	}
	if err := launch(s.stream, device.Cover(blocks*block, block), grid, each, seen); err != nil {
		return err
	}
	want := slices.Repeat([]cells[T]{start}, 2+blocks*block+blocks)
	var put []T
	for i := range blocks * block {
		v := scrambled[T](i)
		mixAtomics(&want[0], v)
		mixAtomics(&want[2+i], v)
		mixAtomics(&want[2+blocks*block+i/block], v)
		put = append(put, v)
	}
	gotGrid, err := download(s, grid)
	if err != nil {
		return err
	}
	gotBlocks, err := download(s, each)
	if err != nil {
		return err
	}
	gotSeen, err := download(s, seen)
	if err != nil {
		return err
	}
	put = append(put, start[8])
	for i, got := range append(gotGrid, gotBlocks...) {
		if !slices.Contains(put, got[8]) {
			return fmt.Errorf("cells %d: %v is left of the exchanges, which nobody stored", i, got[8])
		}
		want[i][8] = got[8]
		if got != want[i] {
			return fmt.Errorf("cells %d are %v, want %v", i, got, want[i])
		}
	}
	return sameNumbers(append(gotSeen, gotGrid[0][8]), put)
}

// sameNumbers compares two lists whose order does not matter.
func sameNumbers[T word](got, want []T) error {
	slices.Sort(got)
	slices.Sort(want)
	return compare(got, want)
}

// extremes keeps the least and the greatest of x and their sum, and counts them in a float.
func extremes[T float32 | float64](t gpu.Thread, x, found []T) {
	i := t.GlobalX()
	if i >= len(x) {
		return
	}
	gpu.AtomicMin(&found[0], x[i])
	gpu.AtomicMax(&found[1], x[i], gpu.Release)
	gpu.AtomicAdd(&found[2], x[i])
	gpu.AtomicSub(&found[3], x[i])
	for {
		old := gpu.AtomicLoad(&found[4])
		if _, ok := gpu.AtomicCompareAndSwap(&found[4], old, old+0.5); ok {
			break
		}
	}
	gpu.AtomicMax(&found[5], x[i], gpu.BlockScope, gpu.Sequential)
}

//gpu:kernel
func extremes32(t gpu.Thread, x, found []float32) { extremes(t, x, found) }

//gpu:kernel
func extremes64(t gpu.Thread, x, found []float64) { extremes(t, x, found) }

func checkAtomicFloat32(s *session) error { return checkExtremes(s, Extremes32) }
func checkAtomicFloat64(s *session) error { return checkExtremes(s, Extremes64) }

// checkExtremes uses numbers whose sums are exact in any order.
func checkExtremes[T float32 | float64](s *session, launch func(*device.Stream, device.Grid, device.Slice[T], device.Slice[T]) error) error {
	x := make([]T, 700)
	want := []T{0, 0, 0, 0, T(len(x)) / 2, 0}
	for i := range x {
		x[i] = T(i*37%997-500) / 4
		want[0], want[1] = min(want[0], x[i]), max(want[1], x[i])
		want[2], want[3] = want[2]+x[i], want[3]-x[i]
		want[5] = max(want[5], x[i])
	}
	dx, err := upload(s, x)
	if err != nil {
		return err
	}
	found, err := upload(s, make([]T, len(want)))
	if err != nil {
		return err
	}
	if err := launch(s.stream, device.Cover(len(x), 64), dx, found); err != nil {
		return err
	}
	return expect(s, found, want)
}

// handOver lets the first block compute numbers and the second one read them.
//
//gpu:kernel
func handOver(t gpu.Thread, data, out []int32, ready []atomic.Int32) {
	switch t.BlockX() {
	case 0:
		data[t.ThreadX()] = int32(t.ThreadX()) * 3
		t.Sync()
		if t.ThreadX() == 0 {
			gpu.Fence()
			ready[0].Store(1)
		}
	case 1:
		for ready[0].Load() == 0 {
		}
		out[t.ThreadX()] = data[len(data)-1-t.ThreadX()]
		atomic.AddInt32(&out[len(data)], 2)
	}
}

func checkHandOver(s *session) error {
	const n = 64
	data, err := upload(s, make([]int32, n))
	if err != nil {
		return err
	}
	out, err := upload(s, make([]int32, n+1))
	if err != nil {
		return err
	}
	ready, err := upload(s, make([]atomic.Int32, 1))
	if err != nil {
		return err
	}
	if err := HandOver(s.stream, device.Cover(2*n, n), data, out, ready); err != nil {
		return err
	}
	want := make([]int32, n+1)
	for i := range n {
		want[i] = int32(n-1-i) * 3
	}
	want[n] = 2 * n
	return expect(s, out, want)
}
