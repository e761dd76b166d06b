package suite

import "github.com/gopherwarp/gopherwarp/gpu"

// warpScan returns the sum of v of the warp's threads up to this one.
func warpScan(t gpu.Thread, v int32) int32 {
	lane := t.ThreadX() % 32
	for d := 1; d < 32; d *= 2 {
		if below := gpu.ShuffleUp(t, v, d); lane >= d {
			v += below
		}
	}
	return v
}

// shuffledScan returns the sum of v of the block's threads up to this one. The block has the given
// number of warps; part holds their sums.
func shuffledScan(t gpu.Thread, part *[32]int32, v int32, warps int) int32 {
	me := t.ThreadX()
	lane, warp := me%32, me/32
	v = warpScan(t, v)
	if lane == 31 {
		part[warp] = v
	}
	t.Sync()
	if warp == 0 {
		var sum int32
		if lane < warps {
			sum = part[lane]
		}
		part[lane] = warpScan(t, sum)
	}
	t.Sync()
	if warp > 0 {
		v += part[warp-1]
	}
	return v
}

// scanBlocksBest is like scanBlocks with four elements a thread.
//
//gpu:kernel
//gpu:block 256
func scanBlocksBest(t gpu.Thread, x, y [][4]int32, sums []int32) {
	part := gpu.Shared[[32]int32](t)
	i := t.GlobalX()
	var v [4]int32
	if i < len(x) {
		v = x[i]
	}
	v[1] += v[0]
	v[2] += v[1]
	v[3] += v[2]
	before := shuffledScan(t, part, v[3], span/4/32) - v[3]
	for k := range v {
		v[k] += before
	}
	if i < len(y) {
		y[i] = v
	}
	if t.ThreadX() == span/4-1 {
		sums[t.BlockX()] = v[3]
	}
}

// scanSumsBest is like scanSums, but neighbouring threads read neighbouring elements.
//
//gpu:kernel
//gpu:block 1024
func scanSumsBest(t gpu.Thread, sums []int32) {
	part := gpu.Shared[[32]int32](t)
	carried := gpu.Shared[[1]int32](t)
	var carry int32
	for start := 0; start < len(sums); start += span {
		i := start + t.ThreadX()
		var v int32
		if i < len(sums) {
			v = sums[i]
		}
		until := shuffledScan(t, part, v, span/32) + carry
		if i < len(sums) {
			sums[i] = until - v
		}
		if t.ThreadX() == span-1 {
			carried[0] = until
		}
		t.Sync()
		carry = carried[0]
	}
}

// addOffsetsBest is like addOffsets with four elements a thread.
//
//gpu:kernel
//gpu:block 256
func addOffsetsBest(t gpu.Thread, y [][4]int32, offsets []int32) {
	i := t.GlobalX()
	if i >= len(y) {
		return
	}
	offset, v := offsets[t.BlockX()], y[i]
	for k := range v {
		v[k] += offset
	}
	y[i] = v
}
