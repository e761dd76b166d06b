package public

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// A block sorts mergeShared elements in shared memory; longer sequences are merged in parts of at most mergeSample
// elements of each.
const (
	mergeShared = 1024
	mergeSample = 128
)

// mergeRank returns how many of the first n elements of x, which are sorted, are less than key, or with equal set, less
// than it or equal.
func mergeRank(x []uint32, key uint32, n int, equal bool) int {
	low, high := 0, n
	for low < high {
		middle := (low + high) / 2
		if x[middle] < key || equal && x[middle] == key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// mergeSortShared sorts parts of 1024 elements in shared memory, by merging sequences that are twice as long at each
// step: the first kernel of CUDA's mergeSort sample (Satish, Harris and Garland 2009), with blocks of 512 threads.
// Equal keys stay in order.
//
//gpu:kernel
//gpu:block 512
func mergeSortShared(t gpu.Thread, fromKeys, fromValues, toKeys, toValues []uint32) {
	keys := gpu.Shared[[mergeShared]uint32](t)
	values := gpu.Shared[[mergeShared]uint32](t)
	me, first := t.ThreadX(), t.BlockX()*mergeShared
	keys[me], values[me] = fromKeys[first+me], fromValues[first+me]
	keys[me+mergeShared/2], values[me+mergeShared/2] = fromKeys[first+me+mergeShared/2], fromValues[first+me+mergeShared/2]
	for stride := 1; stride < mergeShared; stride *= 2 {
		at := me & (stride - 1)
		base := 2 * (me - at)
		t.Sync()
		keyA, valueA := keys[base+at], values[base+at]
		keyB, valueB := keys[base+at+stride], values[base+at+stride]
		toA := mergeRank(keys[base+stride:], keyA, stride, false) + at
		toB := mergeRank(keys[base:], keyB, stride, true) + at
		t.Sync()
		keys[base+toA], values[base+toA] = keyA, valueA
		keys[base+toB], values[base+toB] = keyB, valueB
	}
	t.Sync()
	toKeys[first+me], toValues[first+me] = keys[me], values[me]
	toKeys[first+me+mergeShared/2], toValues[first+me+mergeShared/2] = keys[me+mergeShared/2], values[me+mergeShared/2]
}

// mergeSampleRanks stores the ranks of each 128th element in both sequences of its pair; sequences have length stride.
// It is the second kernel of CUDA's mergeSort.
//
//gpu:kernel
//gpu:block 256
func mergeSampleRanks(t gpu.Thread, keys, ranksA, ranksB []uint32, stride, threads int) {
	i := t.GlobalX()
	if i >= threads {
		return
	}
	samples := stride / mergeSample
	k := i & (samples - 1)
	base := (i - k) * 2 * mergeSample
	ra, rb := ranksA[base/mergeSample:], ranksB[base/mergeSample:]
	a, b := keys[base:], keys[base+stride:]
	ra[k] = uint32(k * mergeSample)
	rb[k] = uint32(mergeRank(b, a[k*mergeSample], stride, false))
	rb[samples+k] = uint32(k * mergeSample)
	ra[samples+k] = uint32(mergeRank(a, b[k*mergeSample], stride, true))
}

// mergeLimits merges the ranks of both sequences of a pair. The merged ranks are the limits of parts that can be merged
// independently. It is the third kernel of CUDA's mergeSort.
//
//gpu:kernel
//gpu:block 256
func mergeLimits(t gpu.Thread, ranks, limits []uint32, stride, threads int) {
	i := t.GlobalX()
	if i >= threads {
		return
	}
	samples := stride / mergeSample
	k := i & (samples - 1)
	base := (i - k) * 2
	r, l := ranks[base:], limits[base:]
	l[mergeRank(r[samples:], r[k], samples, false)+k] = r[k]
	l[mergeRank(r, r[samples+k], samples, true)+k] = r[samples+k]
}

// mergeParts merges the parts between the limits in shared memory. A block of 128 threads merges one part. It is the last
// kernel of CUDA's mergeSort.
//
//gpu:kernel
//gpu:block 128
func mergeParts(t gpu.Thread, fromKeys, fromValues, toKeys, toValues, limitsA, limitsB []uint32, stride int) {
	keys := gpu.Shared[[2 * mergeSample]uint32](t)
	values := gpu.Shared[[2 * mergeSample]uint32](t)
	me, block := t.ThreadX(), t.BlockX()
	k := block & (2*stride/mergeSample - 1)
	base := (block - k) * mergeSample
	startA, startB, endA, endB := int(limitsA[block]), int(limitsB[block]), stride, stride
	if k+1 < 2*stride/mergeSample {
		endA, endB = int(limitsA[block+1]), int(limitsB[block+1])
	}
	countA, countB := endA-startA, endB-startB
	if me < countA {
		keys[me], values[me] = fromKeys[base+startA+me], fromValues[base+startA+me]
	}
	if me < countB {
		keys[mergeSample+me], values[mergeSample+me] = fromKeys[base+stride+startB+me], fromValues[base+stride+startB+me]
	}
	t.Sync()
	var keyA, valueA, keyB, valueB uint32
	var toA, toB int
	if me < countA {
		keyA, valueA = keys[me], values[me]
		toA = mergeRank(keys[mergeSample:], keyA, countB, false) + me
	}
	if me < countB {
		keyB, valueB = keys[mergeSample+me], values[mergeSample+me]
		toB = mergeRank(keys[:], keyB, countA, true) + me
	}
	t.Sync()
	if me < countA {
		keys[toA], values[toA] = keyA, valueA
	}
	if me < countB {
		keys[toB], values[toB] = keyB, valueB
	}
	t.Sync()
	for i := me; i < countA+countB; i += mergeSample {
		toKeys[base+startA+startB+i], toValues[base+startA+startB+i] = keys[i], values[i]
	}
}

// newMergeSort prepares n keys with their indices; n is a power of two of at least 2048.
func newMergeSort(b *harness.Bench, n int) harness.Work {
	keys := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) uint32 { return r.Uint32N(1 << 20) }))
	order := harness.Input(b, harness.Random(b, n, func(_ *rand.Rand, i int) uint32 { return uint32(i) }))
	sortedKeys, sortedValues := harness.Result(b, n, ^uint32(0)), harness.Result(b, n, ^uint32(0))
	otherKeys, otherValues := harness.Scratch[uint32](b, n), harness.Scratch[uint32](b, n)
	marks := func() *harness.Array[uint32] { return harness.Scratch[uint32](b, n/mergeSample) }
	ranksA, ranksB, limitsA, limitsB := marks(), marks(), marks(), marks()
	fromKeys, fromValues, toKeys, toValues := sortedKeys, sortedValues, otherKeys, otherValues
	if bits.Len(uint(n/mergeShared))%2 == 0 { // an odd number of merges ends in the other arrays
		fromKeys, fromValues, toKeys, toValues = toKeys, toValues, fromKeys, fromValues
	}
	ls := []harness.Launch{harness.Of("mergeSortShared", MergeSortShared, device.Grid{Blocks: device.Dim{X: n / mergeShared}, Block: device.Dim{X: mergeShared / 2}},
		keys, order, fromKeys, fromValues)}
	threads := n / (2 * mergeSample)
	g, parts := device.Cover(threads, 256), device.Grid{Blocks: device.Dim{X: n / mergeSample}, Block: device.Dim{X: mergeSample}}
	for stride := mergeShared; stride < n; stride *= 2 {
		length, count := harness.ByValue(stride), harness.ByValue(threads)
		ls = append(ls, harness.Of("mergeSampleRanks", MergeSampleRanks, g, fromKeys, ranksA, ranksB, length, count),
			harness.Of("mergeLimits", MergeLimits, g, ranksA, limitsA, length, count),
			harness.Of("mergeLimits", MergeLimits, g, ranksB, limitsB, length, count),
			harness.Of("mergeParts", MergeParts, parts, fromKeys, fromValues, toKeys, toValues, limitsA, limitsB, length))
		fromKeys, fromValues, toKeys, toValues = toKeys, toValues, fromKeys, fromValues
	}
	return harness.Work{
		Ours: ls,
		Check: func() error {
			return harness.Examine(n, 0, func(i int) error {
				k, at := sortedKeys.Host[i], sortedValues.Host[i]
				if int(at) >= n || keys.Host[at] != k {
					return fmt.Errorf("element %d has key %d and index %d, which do not belong together", i, k, at)
				}
				if i > 0 && (k < sortedKeys.Host[i-1] || k == sortedKeys.Host[i-1] && at <= sortedValues.Host[i-1]) {
					return fmt.Errorf("element %d, key %d of index %d, is not after the one before", i, k, at)
				}
				return nil
			})
		},
	}
}
