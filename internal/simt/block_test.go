package simt_test

import (
	"math"
	"sync"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

func begun(threads int) *simt.Block {
	var b simt.Block
	b.Begin([3]int{threads, 1, 1}, [3]int{10, 1, 1})
	b.Enter([3]int{})
	return &b
}

// TestSharedBySite requests variables in different orders and repeatedly.
func TestSharedBySite(t *testing.T) {
	b := begun(3)
	first, second := simt.Shared[int32](b, 1), simt.Shared[[4]float64](b, 2)
	if simt.Shared[[4]float64](b, 2) != second || simt.Shared[int32](b, 1) != first || simt.Shared[int32](b, 1) != first {
		t.Error("a call returns different variables")
	}
	if other := simt.Shared[int32](b, 3); other == first {
		t.Error("two calls return the same variable")
	}
	simt.Shared[float32](b, 1)
	if simt.Shared[int32](b, 1) != first {
		t.Error("a call for another type has changed the variable")
	}
}

func TestSharedIsPoisoned(t *testing.T) {
	b := begun(1)
	for block := range 3 {
		b.Enter([3]int{block, 0, 0})
		i, f := simt.Shared[[3]int16](b, 1), simt.Shared[float32](b, 2)
		if *i != [3]int16{-1, -1, -1} || !math.IsNaN(float64(*f)) {
			t.Errorf("block %d starts with %v and %v, want all bits set", block, *i, *f)
		}
		*i, *f = [3]int16{1, 2, 3}, 4
		if b.Index != [3]int{block, 0, 0} {
			t.Errorf("the block is %v", b.Index)
		}
	}
}

// TestBeginForgets lets a block serve kernels with different variables and more threads.
func TestBeginForgets(t *testing.T) {
	b := begun(2)
	before := simt.Shared[int64](b, 0)
	b.Begin([3]int{4, 4, 1}, [3]int{1, 2, 3})
	b.Enter([3]int{0, 1, 2})
	if b.Threads() != 16 || b.Grid != [3]int{1, 2, 3} {
		t.Errorf("%d threads of a grid of %v blocks", b.Threads(), b.Grid)
	}
	if simt.Shared[int64](b, 0) == before {
		t.Error("a variable is the same after Begin")
	}
}

func TestSharedFromGoroutines(t *testing.T) {
	const threads = 32
	b := begun(threads)
	var running sync.WaitGroup
	var got [threads]*[threads]int
	for i := range threads {
		running.Go(func() {
			got[i] = simt.Shared[[threads]int](b, 0)
			got[i][i] = i
		})
	}
	running.Wait()
	for i := range threads {
		if got[i] != got[0] || got[0][i] != i {
			t.Errorf("thread %d has %p with %d, want %p with %d", i, got[i], got[0][i], got[0], i)
		}
	}
}

// TestDynamicShared shares memory whose size the launch sets, as integers and as structs.
func TestDynamicShared(t *testing.T) {
	b := begun(2)
	if got := simt.DynamicShared[int32](b); got != nil {
		t.Errorf("there are %d numbers without dynamic memory", len(got))
	}
	b.Dynamic = 20
	b.Begin([3]int{2, 1, 1}, [3]int{3, 1, 1})
	for block := range 3 {
		b.Enter([3]int{block, 0, 0})
		words, pairs := simt.DynamicShared[uint32](b), simt.DynamicShared[struct{ x, y uint32 }](b)
		if len(words) != 5 || len(pairs) != 2 || cap(words) != 5 {
			t.Fatalf("%d numbers and %d pairs in 20 bytes", len(words), len(pairs))
		}
		for i, w := range words {
			if w != math.MaxUint32 {
				t.Errorf("block %d starts with %#x at %d", block, w, i)
			}
		}
		if words[3] = 7; pairs[1].y != 7 {
			t.Errorf("number 3 is not part of pair 1: %v", pairs)
		}
	}
	b.Dynamic = 4000
	b.Begin([3]int{2, 1, 1}, [3]int{3, 1, 1})
	if got := simt.DynamicShared[[100]float32](b); len(got) != 10 {
		t.Errorf("%d arrays of 400 bytes in 4000", len(got))
	}
}
