package threads

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// slide reads four elements at a time, from every element on, and checks an index only where it comes to it.
//
//gpu:kernel
func slide(t gpu.Thread, n int, x []int32, out []int64) {
	i := t.ThreadX()
	sum := int64(0)
	for s := x[i:]; len(s) >= 4; s = s[1:] {
		sum = sum*3 + int64(s[0]-s[1]*2+s[2]*5+s[3])
	}
	for k := range n {
		if k == i {
			break
		}
		sum += int64(x[n+k*0])
	}
	out[i] = sum
}

func slid(r *check.Run) {
	for _, n := range []int{3, 100} { // the second is not an index, but no thread comes to it
		threads := 5
		if n > 20 {
			threads = 1
		}
		x, want := make([]int32, 20), make([]int64, threads)
		for i := range x {
			x[i] = int32(i * i)
		}
		for i := range want {
			for j := i; j+4 <= len(x); j++ {
				want[i] = want[i]*3 + int64(x[j]-x[j+1]*2+x[j+2]*5+x[j+3])
			}
			want[i] += int64(min(i, n)) * int64(x[n%20])
		}
		out := check.Make[int64](r, threads)
		r.Launch(Slide(r.Stream, check.Threads(threads), n, check.Upload(r, x...), out))
		check.Want(r, out, want...)
	}
}

// fetch has elements of 16 bytes copied beside the threads.
//
//gpu:kernel
func fetch(t gpu.Thread, x, out [][4]float32) {
	near := gpu.Shared[[32][4]float32](t)
	lane := t.ThreadX()
	gpu.CopyAsync(t, &near[lane], &x[lane])
	t.CommitCopies()
	t.WaitCopies(0)
	t.Sync()
	out[lane] = near[lane^1]
}

func fetched(r *check.Run) {
	x, want := make([][4]float32, 32), make([][4]float32, 32)
	for i := range x {
		for j := range 4 {
			x[i][j] = float32(10*i + j)
			want[i^1][j] = x[i][j]
		}
	}
	out := check.Make[[4]float32](r, 32)
	r.Launch(Fetch(r.Stream, check.Threads(32), check.Upload(r, x...), out))
	check.Want(r, out, want...)
}
