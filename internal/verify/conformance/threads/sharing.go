package threads

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// operator combines two numbers.
type operator interface{ of(a, b int32) int32 }

type (
	plus   struct{}
	larger struct{}
)

func (plus) of(a, b int32) int32   { return a + b }
func (larger) of(a, b int32) int32 { return max(a, b) }

// blockTotal returns the combination of v over all threads of a block of size threads. It ends with a barrier, so that
// it may be called again.
func blockTotal[O operator](t gpu.Thread, v int32) int32 {
	var o O
	parts := gpu.Shared[[size]int32](t)
	parts[t.ThreadX()] = v
	t.Sync()
	total := parts[0]
	for _, x := range parts[1:] {
		total = o.of(total, x)
	}
	t.Sync()
	return total
}

// through calls blockTotal in a function that takes a function, which is inlined at each call.
func through(t gpu.Thread, v int32, f func(int32) int32) int32 {
	last := gpu.Shared[int32](t)
	if t.ThreadX() == size-1 {
		*last = f(v)
	}
	t.Sync()
	r := *last
	t.Sync()
	return r + blockTotal[plus](t, v)
}

// totals are results of functions with shared variables: called in a row, in a loop, in branches that all threads take,
// and before and after a return of other blocks.
type totals struct{ Sum, Largest, Loop, Branch, First, Second, Counted int32 }

//gpu:kernel
//gpu:block 96
func totalize(t gpu.Thread, in []int32, out []totals) {
	v := in[t.GlobalX()]
	r := totals{Sum: blockTotal[plus](t, v), Largest: blockTotal[larger](t, v)}
	for i := range int32(4) {
		r.Loop = r.Loop*3 + blockTotal[larger](t, v*i%7)
	}
	if t.BlockX()%2 == 1 {
		r.Branch = blockTotal[plus](t, -v)
		count := gpu.Shared[uint32](t)
		if t.ThreadX() == 0 {
			*count = 0
		}
		t.Sync()
		gpu.AtomicAdd(count, 1)
		t.Sync()
		r.Counted = int32(*count)
	}
	r.First = through(t, v, func(x int32) int32 { return x + 1 })
	if t.BlockX() == 2 {
		out[t.GlobalX()] = r
		return
	}
	r.Second = through(t, v, func(x int32) int32 { return x * 2 })
	out[t.GlobalX()] = r
}

// totalized compares totalize with the totals that plain Go computes.
func totalized(r *check.Run) {
	const blocks = 4
	in := make([]int32, blocks*size)
	for i, v := range numbers(len(in)) {
		in[i] = int32(v)
	}
	var want []totals
	for b := range blocks {
		part := in[b*size : (b+1)*size]
		w := totals{}
		var rest [4]int32
		for _, v := range part {
			w.Sum, w.Largest = w.Sum+v, max(w.Largest, v)
			for i := range int32(4) {
				rest[i] = max(rest[i], v*i%7)
			}
		}
		for _, v := range rest {
			w.Loop = w.Loop*3 + v
		}
		if b%2 == 1 {
			w.Branch, w.Counted = -w.Sum, size
		}
		last := part[size-1]
		if w.First = last + 1 + w.Sum; b != 2 {
			w.Second = last*2 + w.Sum
		}
		for range size {
			want = append(want, w)
		}
	}
	out := check.Make[totals](r, len(in))
	r.Launch(Totalize(r.Stream, device.Blocks{X: blocks}, check.Upload(r, in...), out))
	check.Want(r, out, want...)
}
