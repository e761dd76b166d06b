package simt

import (
	"fmt"
	"math"
	"sync/atomic"
	"testing"
)

// TestSpan walks the blocks from 2 to 8 of a grid of 5 x 2 as rows. A row ends at the end of a grid
// row; if a row ends within a block, the next one continues where it ended.
func TestSpan(t *testing.T) {
	var last atomic.Int64
	last.Store(math.MaxInt64)
	b := &Block{}
	b.Begin([3]int{8, 1, 1}, [3]int{5, 2, 1})
	w := Walk{Block: b}
	w.Range(2, 8, &last)
	var got []string
	take := func(n int) {
		if !w.Next() {
			t.Fatalf("no block after %v", got)
		}
		got = append(got, fmt.Sprintf("%d at %v begun %d span %d done %d", w.Number(), b.Index, w.Begun(), w.Span(), w.Done(n)))
	}
	take(20) // of 24: two blocks and half of the third
	take(8)
	take(7) // not even one block
	take(16)
	if w.Next() {
		t.Errorf("there is block %d, want none", w.Number())
	}
	want := []string{
		"2 at [2 0 0] begun 0 span 24 done 8",
		"4 at [4 0 0] begun 4 span 8 done 8",
		"5 at [0 1 0] begun 0 span 24 done 7",
		"6 at [1 1 0] begun 0 span 16 done 8",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	w.Range(0, 1, &last)
	if w.Next(); w.Begun() != 0 {
		t.Errorf("another range's first block has begun")
	}
}

// TestSpanOfPlanes walks two-dimensional blocks, which are not rows.
func TestSpanOfPlanes(t *testing.T) {
	var last atomic.Int64
	last.Store(math.MaxInt64)
	b := &Block{}
	b.Begin([3]int{8, 2, 1}, [3]int{5, 1, 1})
	w := Walk{Block: b}
	w.Range(0, 5, &last)
	w.Next()
	if span, done := w.Span(), w.Done(8); span != 8 || done != 8 || w.Number() != 0 || w.Begun() != 0 {
		t.Errorf("a span of %d threads, %d done, block %d", span, done, w.Number())
	}
}
