package threads

import (
	"math/bits"
	"slices"
)

// exchangedBlock returns what the threads of a block of exchange store, computed one after the other.
func exchangedBlock(in []int64) []exchanged {
	out := make([]exchanged, size)
	for i := range out {
		r, at := &out[i], func(i int) int64 { return in[i%size] }
		r.Neighbour, r.Reversed, r.Broadcast = at(i+1), in[size-1-i], in[13]
		r.Tile = int64(int32(in[i%8*12+i/8]))
		r.Bytes, r.Doubles = int64(uint8(in[size-1-i])), int64(float64(in[i^1])/4*8)
		for _, x := range in[:10] {
			if x%3 == 0 {
				r.Booleans++
			}
		}
		r.Scalar, r.TwoArrays = int64(int32(in[7])), in[i]+int64(int32(in[3]))
		for _, x := range in {
			r.RangeOver = r.RangeOver*3 + x
		}
		r.Overwritten = -at(i + 50)
		r.StructWhole = int64(uint8(at(i+3))) + int64(float64(at(i+3))/2*2)*1000
		r.StructField = int64(float64(at(i+4)) / 2)
		r.StructArray = []int64{int64(int16(at(i + 5))), 5}[i&1]
		r.Pointer = int64(uint8(in[size-1-i])+1) + int64(5-int16(size-1-i))*1000
		r.Slice, r.SliceArgument = int64(int32(in[i/2]))+int64(size-i/2)*1000, sumOf(in[8:16])
		r.NamedArray, r.Copied, r.Cleared = int64(int32(in[size-1])), int64(int32(in[10])), 0
		for k := range size {
			r.Atomic += int64(k) * []int64{0, 1, 0, 10000}[k&3]
		}
		r.Overlapping = sumOf(in[10:12]) + sumOf(in[4:6]) + sumOf(in[4:8])
		r.InFunction = in[(i/2+1)%(size/2)*2]
		r.GenericArray = int64(int16(at(i + 7)))
	}
	buffers := [2][]int64{append([]int64(nil), in...), make([]int64, size)}
	for step := range 5 {
		for i := range size {
			buffers[1-step&1][i] = buffers[step&1][i] + buffers[step&1][(i+1)%size]
		}
	}
	for i := range out {
		out[i].DoubleBuffer, out[i].Rotated = buffers[1][i], buffers[0][(i+48)%size]
	}
	return out
}

func sumOf(x []int64) (sum int64) {
	for _, v := range x {
		sum += int64(int32(v))
	}
	return sum
}

// cooperatedBlock returns what the threads of a block of cooperate store.
func cooperatedBlock(n int, in []int64) []together {
	out := make([]together, size)
	sorted := slices.Sorted(slices.Values(in))
	var sum, thirds int64
	all, some, even, odd := int64(1), int64(0), []int64(nil), []int64(nil)
	for _, x := range in {
		sum += x
		if x%3 == 0 {
			thirds++
		}
		if x >= 1000 {
			all = 0
		}
		if x%50 == 49 {
			some = 1
		}
		if x%2 == 0 {
			even = append(even, x)
		} else {
			odd = append(odd, x)
		}
	}
	slices.Reverse(odd)
	compacted, mailed := append(even, odd...), slices.Clone(in)
	for turn := range 4 {
		before := slices.Clone(mailed)
		for i := range mailed {
			mailed[i] = before[(i*5+turn)%size] + int64(turn)
		}
	}
	scan := int64(0)
	for i := range out {
		r, at := &out[i], func(i int) int64 { return in[(i+size)%size] }
		r.TreeSum, r.InterleavedSum = sum, sum
		for k := i; k < size; k += 7 {
			r.GridStrideMaximum = max(r.GridStrideMaximum, in[k])
		}
		r.ScanExclusive = scan
		scan += in[i]
		r.ScanInclusive = scan
		r.BitonicSorted, r.OddEvenSorted = sorted[i], sorted[i]
		r.Stencil = in[max(i-1, 0)] + 2*in[i] + in[min(i+1, size-1)]
		r.Transposed, r.Broadcast, r.Compacted, r.Mailbox = in[i%8*12+i/8], in[n%size], compacted[i], mailed[i]
		r.SyncCount, r.SyncAnd, r.SyncOr = thirds, all, some
		r.BarrierAfterReturn = at(i - 10)
		if i < 10 {
			r.BarrierAfterReturn = in[i] + in[i+1]
		}
		barriersModel(n, i, at, r)
	}
	return out
}

func barriersModel(n, i int, at func(int) int64, r *together) {
	for k := range n {
		r.BarrierInLoop += at(i - k)
	}
	if n > 2 {
		r.BarrierInBranch = 2 * at(size-1-i)
	}
	if n%3 == 1 {
		r.BarrierInSwitch = at(i^2) + 1
	}
	r.BarrierInFunction = at(i+5) - at(i+9)
	for k := 0; k*k < n; k++ {
		r.BarrierByParameter += at(i + k)
	}
	r.ManyBarriers = at(i+6) - at(i+10)
	l := i % 32
	r.WarpStages = at(l) + at(l+32) + at((l+1)%32+64)
}

// warpedWarp returns what the threads of a full warp of warps store, but for BlockSum.
func warpedWarp(in []int64) []warped {
	out := make([]warped, 32)
	var all warped
	all.ReduceMin, all.ReduceMax, all.ReduceAnd, all.All, all.AllNot, all.BallotAll = in[0], in[0], -1, 1, 1, 1<<32-1
	for i, x := range in {
		all.ReduceAdd += x
		all.ReduceMin, all.ReduceMax = min(all.ReduceMin, x), max(all.ReduceMax, x)
		all.ReduceAnd, all.ReduceOr, all.ReduceXor = all.ReduceAnd&(x|8), all.ReduceOr|x, all.ReduceXor^x
		all.Ballot |= x % 2 << i
		if x%7 == 0 {
			all.Any, all.AllNot = 1, 0
		}
	}
	all.Butterfly, all.ReduceFloat, all.ReduceMinFloat = all.ReduceAdd, all.ReduceAdd, all.ReduceMin
	all.Shuffle = in[7]
	if all.Ballot != 0 {
		all.FirstLane = int64(bits.TrailingZeros32(uint32(all.Ballot)))
	}
	scan := int64(0)
	for i, x := range in {
		r := &out[i]
		*r = all
		scan += x
		r.Scan, r.ShuffleSame, r.ShuffleFar = scan, x, in[(i+8)%32]
		r.ShuffleUp, r.ShuffleUpEdge, r.ShuffleDown = in[max(i-1, 0)], x, x
		if i >= 20 {
			r.ShuffleUpEdge = in[i-20]
		}
		if i+3 < 32 {
			r.ShuffleDown = in[i+3]
		}
		r.ShuffleXor, r.Shuffle32 = in[i^6], in[31-i]
		r.ShuffleFloat32, r.ShuffleFloat64, r.ShuffleUnsigned = in[i^1], in[i^16], in[i^3]
		for step := range 3 {
			r.InLoop = r.InLoop*5 + in[(i+step)%32]
		}
		r.InFunction, r.SyncWarp = -3, in[i^5]
		for k, y := range in {
			r.MatchParity |= toInt(y%2 == x%2) << k
			r.MatchFloat |= toInt(y%3 == x%3) << k
		}
		r.MatchUnique, r.Rank = 1<<i, int64(bits.OnesCount32(uint32(all.Ballot)&(1<<i-1)))
	}
	return out
}
