package threads

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// settled is what a thread knows of its block when that has settled: how often it was looked at, in how many
// places it was not in order the first time, and the thread's number.
type settled struct{ Rounds, Wrong, Value int32 }

// settle sorts the numbers of each block of 64, neighbour by neighbour, until a barrier tells that nobody had anything to do. Threads
// from n on leave first, and are not counted.
//
//gpu:kernel
func settle(t gpu.Thread, n int, in []int32, out []settled) {
	x := gpu.Shared[[64]int32](t)
	i := t.ThreadX()
	at := t.BlockX()*64 + i
	if i >= n {
		return
	}
	x[i] = in[at]
	r := settled{Wrong: int32(t.SyncCount(i > 0 && in[at-1] > in[at]))}
	for more := true; more; r.Rounds++ {
		more = false
		for odd := range 2 {
			if i%2 == odd && i+1 < n && x[i] > x[i+1] {
				x[i], x[i+1], more = x[i+1], x[i], true
			}
			t.Sync()
		}
		if t.SyncAnd(!more) {
			break
		}
		more = t.SyncOr(more)
	}
	r.Value = x[i]
	out[at] = r
}

// settledBlock is what settle leaves of the first n numbers of a block.
func settledBlock(x []int32) []settled {
	out := make([]settled, len(x))
	wrong, rounds := int32(0), int32(0)
	for i := 1; i < len(x); i++ {
		if x[i-1] > x[i] {
			wrong++
		}
	}
	for more := true; more; {
		more = false
		for odd := range 2 {
			for i := odd; i+1 < len(x); i += 2 {
				if x[i] > x[i+1] {
					x[i], x[i+1], more = x[i+1], x[i], true
				}
			}
		}
		if more {
			rounds++
		}
	}
	for i := range out {
		out[i] = settled{rounds, wrong, x[i]}
	}
	return out
}

func settles(r *check.Run) {
	for _, n := range []int{1, 2, 33, 64} {
		in := make([]int32, 192)
		for i, v := range numbers(len(in)) {
			in[i] = int32(v)
		}
		out := check.Make[settled](r, len(in))
		r.Launch(Settle(r.Stream, check.Blocks(3, 64), n, check.Upload(r, in...), out))
		got := check.Get(r, out)
		for from := 0; from < len(in); from += 64 {
			for i, want := range settledBlock(in[from : from+n]) {
				check.Compare(r, fmt.Sprintf("thread %d of %d in block %d", i, n, from/64), got[from+i], want)
			}
		}
	}
}
