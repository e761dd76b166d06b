package sampling

import "github.com/gopherwarp/gopherwarp/gpu"

const (
	bucketBits  = 12
	bucketCount = 1 << bucketBits
	keyShift    = 32 - bucketBits // of the ranks of keys, for their first histogram
	halfBits    = 13              // of a weight that is added to the low sum of a bucket
)

// histogram adds up weights by bucket, in two parts that do not overflow.
type histogram struct {
	low     [bucketCount]int32 // the bits of uint32
	high    [bucketCount]uint32
	partial [wideThreads]int64 // sums of the buckets of each thread
	result  [3]int64
}

// clear clears the histogram for all threads.
func (h *histogram) clear(t gpu.Thread) {
	t.Sync()
	for i := t.ThreadX(); i < bucketCount; i += wideThreads {
		h.low[i], h.high[i] = 0, 0
	}
	t.Sync()
}

// add adds a weight to a bucket.
func (h *histogram) add(bucket uint32, weight int32) {
	gpu.AtomicAdd(&h.low[bucket], weight&(1<<halfBits-1), gpu.BlockScope)
	if high := uint32(weight) >> halfBits; high > 0 {
		gpu.AtomicAdd(&h.high[bucket], high, gpu.BlockScope)
	}
}

// sum returns the weights of a bucket.
func (h *histogram) sum(bucket int) int64 {
	return int64(uint32(h.low[bucket])) + int64(h.high[bucket])<<halfBits
}

// crossing is the last bucket of which the sum of it and of all that follow reaches what is needed. from is that sum, after the
// sum without the bucket.
type crossing struct {
	bucket      uint32
	from, after int64
}

// crossing returns where the sum of the last buckets reaches what is needed; if it does not, the first bucket.
func (h *histogram) crossing(t gpu.Thread, need int64) crossing {
	t.Sync()
	const each = bucketCount / wideThreads
	var sum int64
	for i := range each {
		sum += h.sum(t.ThreadX()*each + i)
	}
	h.partial[t.ThreadX()] = sum
	t.Sync()
	if t.Warp() == 0 {
		group := h.group(t, need)
		after := h.from(t, group+1)
		bucket, from := group*each+each-1, after+h.sum(group*each+each-1)
		for from < need && bucket > group*each {
			bucket--
			after, from = from, from+h.sum(bucket)
		}
		if t.Lane() == 0 {
			h.result = [3]int64{int64(bucket), from, after}
		}
	}
	t.Sync()
	return crossing{uint32(h.result[0]), h.result[1], h.result[2]}
}

// group returns the last of the partial sums from which on they reach what is needed, for a warp.
func (h *histogram) group(t gpu.Thread, need int64) int {
	low, high := 0, wideThreads-1
	for low < high {
		middle := (low + high + 1) / 2
		if h.from(t, middle) >= need {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// from returns the sum of the partial sums from the first one on, for a warp.
func (h *histogram) from(t gpu.Thread, first int) (sum int64) {
	for i := t.Lane(); i < wideThreads; i += gpu.WarpSize {
		if i >= first {
			sum += h.partial[i]
		}
	}
	return gpu.Shuffle(t, gpu.WarpReduceAdd(t, sum), 0) // for the compiler, the same for all threads
}
