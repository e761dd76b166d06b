package threads

import "github.com/gopherwarp/gopherwarp/gpu"

// together is what block-wide algorithms leave for a thread.
type together struct {
	TreeSum, InterleavedSum, GridStrideMaximum, ScanInclusive, ScanExclusive               int64
	BitonicSorted, OddEvenSorted, Stencil, Transposed, Compacted, Broadcast                int64
	BarrierInLoop, BarrierInBranch, BarrierInSwitch, BarrierInFunction, BarrierAfterReturn int64
	BarrierByParameter, SyncCount, SyncAnd, SyncOr, ManyBarriers, Mailbox, WarpStages      int64
}

// cooperate runs the algorithms on the block's part of in; n is a number that all threads know.
//
//gpu:kernel
//gpu:block 96
func cooperate(t gpu.Thread, n int, in []int64, out []together) {
	data := gpu.Shared[[128]int64](t)
	lane := t.ThreadX()
	x := in[t.GlobalX()]
	r := &out[t.GlobalX()]
	sums(t, data, x, r)
	scans(t, data, x, r)
	sorts(t, data, x, r)
	barriers(t, part{data, n, x}, r)
	t.Sync()
	data[lane] = x
	t.Sync()
	r.Stencil = data[max(lane-1, 0)] + 2*data[lane] + data[min(lane+1, size-1)]
	r.Transposed = data[lane%8*12+lane/8]
	r.Broadcast = data[n%size]
	r.Compacted, r.Mailbox = compact(t, data, x), mail(t, data, x)
	r.SyncCount, r.BarrierAfterReturn = int64(t.SyncCount(x%3 == 0)), leave(t, data, x)
	if t.SyncAnd(x < 1000) {
		r.SyncAnd = 1
	}
	if t.SyncOr(x%50 == 49) {
		r.SyncOr = 1
	}
}

func sums(t gpu.Thread, data *[128]int64, x int64, r *together) {
	lane := t.ThreadX()
	data[lane] = x
	if lane < 32 {
		data[size+lane] = 0
	}
	for half := 64; half > 0; half /= 2 {
		t.Sync()
		if lane < half {
			data[lane] += data[lane+half]
		}
	}
	t.Sync()
	r.TreeSum = data[0]
	t.Sync()
	data[lane] = x
	for stride := 1; stride < size; stride *= 2 {
		t.Sync()
		if i := 2 * stride * lane; i+stride < size {
			data[i] += data[i+stride]
		}
	}
	t.Sync()
	r.InterleavedSum = data[0]
	t.Sync()
	data[lane] = x
	t.Sync()
	best := data[lane]
	for i := lane; i < size; i += 7 {
		best = max(best, data[i])
	}
	r.GridStrideMaximum = best
	t.Sync()
}

func scans(t gpu.Thread, data *[128]int64, x int64, r *together) {
	lane := t.ThreadX()
	data[lane] = x
	for distance := 1; distance < size; distance *= 2 {
		t.Sync()
		v := data[lane]
		if lane >= distance {
			v += data[lane-distance]
		}
		t.Sync()
		data[lane] = v
	}
	t.Sync()
	r.ScanInclusive, r.ScanExclusive = data[lane], data[lane]-x
	t.Sync()
}

// histogram counts the numbers of the block's part of in by their remainders. It needs atomic operations on 64 bits of shared memory, which
// devices lack that can run cooperate.
//
//gpu:kernel
//gpu:block 96
func histogram(t gpu.Thread, in, out []int64) {
	data := gpu.Shared[[128]int64](t)
	lane := t.ThreadX()
	x := in[t.GlobalX()]
	data[lane] = x
	t.Sync()
	data[lane] = 0
	t.Sync()
	gpu.AtomicAdd(&data[uint64(x)%8], 1)
	t.Sync()
	out[t.GlobalX()] = data[lane%8]
}

func sorts(t gpu.Thread, data *[128]int64, x int64, r *together) {
	lane := t.ThreadX()
	data[lane] = x
	if lane < 32 {
		data[size+lane] = 1 << 60
	}
	for block := 2; block <= 128; block *= 2 {
		for distance := block / 2; distance > 0; distance /= 2 {
			t.Sync()
			for i := lane; i < 128; i += size {
				if j := i ^ distance; j > i && (data[i] > data[j]) == (i&block == 0) {
					data[i], data[j] = data[j], data[i]
				}
			}
		}
	}
	t.Sync()
	r.BitonicSorted = data[lane]
	t.Sync()
	data[lane] = x
	for step := range size {
		t.Sync()
		if i := 2*lane + step&1; i+1 < size && data[i] > data[i+1] {
			data[i], data[i+1] = data[i+1], data[i]
		}
	}
	t.Sync()
	r.OddEvenSorted = data[lane]
	t.Sync()
}

// part is what a thread hands on: the block's memory, the number that all know, its own.
type part struct {
	data *[128]int64
	n    int
	x    int64
}

func barriers(t gpu.Thread, p part, r *together) {
	lane, data, n, x := t.ThreadX(), p.data, p.n, p.x
	for i := range n {
		t.Sync()
		data[(lane+i)%size] = x
		t.Sync()
		r.BarrierInLoop += data[lane]
	}
	if n > 2 {
		t.Sync()
		data[lane] = 2 * x
		t.Sync()
		r.BarrierInBranch = data[size-1-lane]
	}
	switch n % 3 {
	case 0:
		t.Sync()
		data[lane] = 5
		t.Sync()
	case 1:
		t.Sync()
		data[lane] = x + 1
		t.Sync()
		r.BarrierInSwitch = data[lane^2]
	}
	r.BarrierInFunction = rotated(t, data, x, 5) - rotated(t, data, x, 9)
	for i := 0; i*i < n; i++ {
		r.BarrierByParameter += rotated(t, data, x, i)
	}
	t.Sync()
	t.Sync()
	r.ManyBarriers = rotated(t, data, r.BarrierInFunction, 1)
	t.Sync()
	data[lane] = x
	t.Sync()
	if lane < 32 {
		data[lane] += data[lane+32]
		t.SyncWarp()
		data[lane] += data[(lane+1)%32+64]
	}
	t.Sync()
	r.WarpStages = data[lane%32]
}

func rotated(t gpu.Thread, data *[128]int64, x int64, by int) int64 {
	t.Sync()
	data[t.ThreadX()] = x
	t.Sync()
	return data[(t.ThreadX()+by)%size]
}

// compact moves the even numbers to the front, in order, and returns the thread's element.
func compact(t gpu.Thread, data *[128]int64, x int64) int64 {
	lane, before := t.ThreadX(), 0
	t.Sync()
	for i := range lane {
		if data[i]%2 == 0 {
			before++
		}
	}
	t.Sync()
	if x%2 == 0 {
		data[before] = x
	} else {
		data[size-1-(lane-before)] = x
	}
	t.Sync()
	return data[lane]
}

// mail hands numbers round in turns, each thread reading what another wrote in the turn before.
func mail(t gpu.Thread, data *[128]int64, x int64) int64 {
	lane := t.ThreadX()
	for turn := range 4 {
		t.Sync()
		data[lane] = x + int64(turn)
		t.Sync()
		x = data[(lane*5+turn)%size]
	}
	t.Sync()
	return x
}

// leave lets only some threads add numbers, which takes barriers that the others do not reach alone.
func leave(t gpu.Thread, data *[128]int64, x int64) int64 {
	lane := t.ThreadX()
	data[lane] = x
	t.Sync()
	if lane >= 10 {
		return data[lane-10]
	}
	return data[lane] + data[lane+1]
}

// thin lets most threads leave before the others meet at a barrier.
//
//gpu:kernel
func thin(t gpu.Thread, n int, out []int32) {
	seen := gpu.Shared[[64]int32](t)
	lane := t.ThreadX()
	if lane >= n {
		return
	}
	seen[lane] = int32(lane * lane)
	t.Sync()
	out[t.BlockX()*64+lane] = seen[n-1-lane] + 1
}
