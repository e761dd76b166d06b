package values

import "github.com/gopherwarp/gopherwarp/gpu"

// placed has a behaviour a field of loads and stores that look as if they might change places, or be one, and must not.
type placed struct {
	LoadAgainInLoop, StoreInFrontOfLoad, IndexFromBelow int32
	RowsBehindHead                                      float32
}

// headed has rows that are not multiples of 16 bytes from its start.
type headed struct {
	Head float32
	Rows [5][4]float32
}

// loadAgain loads in each round what the round before it stored.
//
//gpu:kernel
func loadAgain(t gpu.Thread, n int, x []int32, out []placed) {
	first := x[0]
	sum := int32(0)
	for range n {
		sum += x[0] * 3
		x[0] = sum + 1
	}
	out[0].LoadAgainInLoop = sum + first
}

// loadBetween loads from y, which may be x, between stores that lie side by side.
//
//gpu:kernel
func loadBetween(t gpu.Thread, n int32, x, y []int32, out []placed) {
	if len(x) < 4 || len(y) < 4 {
		return
	}
	x[0] = n
	v := y[0]
	x[1] = v * 2
	w := y[1]
	x[2] = v + w
	x[3] = y[2] + 1
	out[0].StoreInFrontOfLoad = x[3]
}

// rows sums a row each thread, of memory that is shared or not.
//
//gpu:kernel
func rows(t gpu.Thread, n int, in []headed, sums []float32, out []placed) {
	shared := gpu.Shared[headed](t)
	i := t.ThreadX()
	shared.Rows[i%5][i/5] = in[1].Rows[i%5][i/5]
	t.Sync()
	p := &in[0]
	if i < n {
		p = shared
	}
	r := &p.Rows[i%5]
	sums[i] = r[0] + r[1]*2 + r[2]*3 + r[3]*4
	gpu.AtomicAdd(&out[0].RowsBehindHead, sums[i])
}

// fromBelow has an index that lies far below 0 until a constant is added: its address alone would be in no memory.
//
//gpu:kernel
func fromBelow(t gpu.Thread, n int, out []placed) {
	var a [64]int32
	for i := range a {
		a[i] = int32(i * n)
	}
	out[0].IndexFromBelow = a[n+1000]
}

// successors adds 1 to bytes that begin anywhere.
//
//gpu:kernel
func successors(t gpu.Thread, x, out []uint8) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = x[i] + 1
	}
}
