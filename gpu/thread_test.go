package gpu_test

import (
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// block returns the block with the given indices of a grid of 5x6x7 blocks of 4x3x2 threads.
func block(index [3]int) *simt.Block {
	b := &simt.Block{}
	b.Begin([3]int{4, 3, 2}, [3]int{5, 6, 7})
	b.Enter(index)
	return b
}

func TestThreadsCountXFastest(t *testing.T) {
	b := block([3]int{1, 2, 3})
	var got, want [][3]int
	for ts := gpu.BlockThreads(b); ts.Next(); {
		got = append(got, ts.Index())
	}
	for z := range 2 {
		for y := range 3 {
			for x := range 4 {
				want = append(want, [3]int{x, y, z})
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("threads %v, want %v", got, want)
	}
}

func TestThreadsEnd(t *testing.T) {
	b := block([3]int{})
	for _, ts := range []gpu.Threads{gpu.BlockThreads(b), gpu.OneThread(b, [3]int{3, 0, 1})} {
		for ts.Next() {
		}
		if ts.Next() {
			t.Error("there is a thread after the last")
		}
	}
}

func TestOneThread(t *testing.T) {
	ts := gpu.OneThread(block([3]int{4, 5, 6}), [3]int{3, 2, 1})
	if !ts.Next() || ts.Index() != [3]int{3, 2, 1} {
		t.Fatalf("the thread is %v", ts.Index())
	}
	th := ts.Thread()
	for name, pair := range map[string][2]int{
		"ThreadX": {th.ThreadX(), 3}, "ThreadY": {th.ThreadY(), 2}, "ThreadZ": {th.ThreadZ(), 1},
		"BlockX": {th.BlockX(), 4}, "BlockY": {th.BlockY(), 5}, "BlockZ": {th.BlockZ(), 6},
		"BlockDimX": {th.BlockDimX(), 4}, "BlockDimY": {th.BlockDimY(), 3}, "BlockDimZ": {th.BlockDimZ(), 2},
		"GridDimX": {th.GridDimX(), 5}, "GridDimY": {th.GridDimY(), 6}, "GridDimZ": {th.GridDimZ(), 7},
		"GlobalX": {th.GlobalX(), 4*4 + 3}, "GlobalY": {th.GlobalY(), 5*3 + 2}, "GlobalZ": {th.GlobalZ(), 6*2 + 1},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %d, want %d", name, pair[0], pair[1])
		}
	}
	if ts.Next() {
		t.Error("there is a second thread")
	}
}

// TestThreadsGoOnAfterAPanic tests that Index identifies the thread that panicked and that the iteration can continue.
func TestThreadsGoOnAfterAPanic(t *testing.T) {
	ts := gpu.BlockThreads(block([3]int{}))
	run := func() {
		defer func() { _ = recover() }()
		for ts.Next() {
			if ts.Thread().ThreadX() == 2 && ts.Thread().ThreadY() == 1 {
				panic("here")
			}
		}
	}
	run()
	if ts.Index() != [3]int{2, 1, 0} {
		t.Errorf("the thread that panicked is %v, want 2,1,0", ts.Index())
	}
	if !ts.Next() || ts.Index() != [3]int{3, 1, 0} {
		t.Errorf("the thread after it is %v, want 3,1,0", ts.Index())
	}
}

func TestSyncWaitsAsItsThread(t *testing.T) {
	b := block([3]int{})
	var waited []int
	b.Meet = func(thread int, k simt.Kind, _ uint32, v uint64) *simt.Meeting {
		if k != simt.Barrier || v != 0 {
			t.Errorf("thread %d came for %v with %d", thread, k, v)
		}
		waited = append(waited, thread)
		return nil
	}
	for ts := gpu.BlockThreads(b); ts.Next(); {
		ts.Thread().Sync()
	}
	want := make([]int, 24)
	for i := range want {
		want[i] = i
	}
	if !slices.Equal(waited, want) {
		t.Errorf("waited as %v, want 0 to 23", waited)
	}
}

func TestSharedIsOneForABlock(t *testing.T) {
	b := block([3]int{})
	seen := map[*[8]int16]bool{}
	for ts := gpu.BlockThreads(b); ts.Next(); {
		seen[gpu.Shared[[8]int16](ts.Thread())] = true
	}
	if len(seen) != 1 {
		t.Errorf("the threads of a block have %d variables, want 1", len(seen))
	}
}

func TestPrintf(t *testing.T) {
	b := block([3]int{1, 2, 3})
	var got []simt.Line
	b.Print = func(line simt.Line) { got = append(got, line) }
	ts := gpu.OneThread(b, [3]int{3, 2, 1})
	ts.Next()
	gpu.Printf(ts.Thread(), "%d %s %v|", 7, "seven", true)
	gpu.Printf(ts.Thread(), "%.2f\n", 1.5)
	place := simt.Line{Block: [3]int{1, 2, 3}, Thread: [3]int{3, 2, 1}}
	first, second := place, place
	first.Text, second.Text = "7 seven true|", "1.50\n"
	if !slices.Equal(got, []simt.Line{first, second}) {
		t.Errorf("printed %+v, want %+v and %+v", got, first, second)
	}
}
