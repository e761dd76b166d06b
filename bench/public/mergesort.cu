// The kernels of mergesort.go.

const int mergeShared = 1024, mergeSample = 128;

struct MergeSortSharedArgs { Slice<const u32> fromKeys, fromValues; Slice<u32> toKeys, toValues; Hidden h; };
struct MergeSampleRanksArgs { Slice<const u32> keys; Slice<u32> ranksA, ranksB; long long stride, threads; Hidden h; };
struct MergeLimitsArgs { Slice<const u32> ranks; Slice<u32> limits; long long stride, threads; Hidden h; };
struct MergePartsArgs { Slice<const u32> fromKeys, fromValues; Slice<u32> toKeys, toValues; Slice<const u32> limitsA, limitsB; long long stride; Hidden h; };

__device__ int mergeRank(const u32* x, u32 key, int n, bool equal) {
	int low = 0, high = n;
	while (low < high) {
		int middle = (low + high) / 2;
		if (x[middle] < key || (equal && x[middle] == key)) low = middle + 1;
		else high = middle;
	}
	return low;
}

KERNEL mergeSortShared(const MergeSortSharedArgs g) {
	__shared__ u32 keys[mergeShared], values[mergeShared];
	int me = threadIdx.x, first = blockIdx.x * mergeShared;
	keys[me] = g.fromKeys.p[first + me], values[me] = g.fromValues.p[first + me];
	keys[me + mergeShared / 2] = g.fromKeys.p[first + me + mergeShared / 2];
	values[me + mergeShared / 2] = g.fromValues.p[first + me + mergeShared / 2];
	for (int stride = 1; stride < mergeShared; stride *= 2) {
		int at = me & (stride - 1), base = 2 * (me - at);
		__syncthreads();
		u32 keyA = keys[base + at], valueA = values[base + at];
		u32 keyB = keys[base + at + stride], valueB = values[base + at + stride];
		int toA = mergeRank(keys + base + stride, keyA, stride, false) + at;
		int toB = mergeRank(keys + base, keyB, stride, true) + at;
		__syncthreads();
		keys[base + toA] = keyA, values[base + toA] = valueA;
		keys[base + toB] = keyB, values[base + toB] = valueB;
	}
	__syncthreads();
	g.toKeys.p[first + me] = keys[me], g.toValues.p[first + me] = values[me];
	g.toKeys.p[first + me + mergeShared / 2] = keys[me + mergeShared / 2];
	g.toValues.p[first + me + mergeShared / 2] = values[me + mergeShared / 2];
}

KERNEL mergeSampleRanks(const MergeSampleRanksArgs g) {
	int i = globalX(), stride = g.stride;
	if (i >= g.threads) return;
	int samples = stride / mergeSample, k = i & (samples - 1), base = (i - k) * 2 * mergeSample;
	u32 *ra = g.ranksA.p + base / mergeSample, *rb = g.ranksB.p + base / mergeSample;
	const u32 *a = g.keys.p + base, *b = g.keys.p + base + stride;
	ra[k] = k * mergeSample;
	rb[k] = mergeRank(b, a[k * mergeSample], stride, false);
	rb[samples + k] = k * mergeSample;
	ra[samples + k] = mergeRank(a, b[k * mergeSample], stride, true);
}

KERNEL mergeLimits(const MergeLimitsArgs g) {
	int i = globalX(), stride = g.stride;
	if (i >= g.threads) return;
	int samples = stride / mergeSample, k = i & (samples - 1), base = (i - k) * 2;
	const u32* r = g.ranks.p + base;
	u32* l = g.limits.p + base;
	l[mergeRank(r + samples, r[k], samples, false) + k] = r[k];
	l[mergeRank(r, r[samples + k], samples, true) + k] = r[samples + k];
}

KERNEL mergeParts(const MergePartsArgs g) {
	__shared__ u32 keys[2 * mergeSample], values[2 * mergeSample];
	int me = threadIdx.x, block = blockIdx.x, stride = g.stride;
	int k = block & (2 * stride / mergeSample - 1), base = (block - k) * mergeSample;
	int startA = g.limitsA.p[block], startB = g.limitsB.p[block], endA = stride, endB = stride;
	if (k + 1 < 2 * stride / mergeSample) endA = g.limitsA.p[block + 1], endB = g.limitsB.p[block + 1];
	int countA = endA - startA, countB = endB - startB;
	if (me < countA) {
		keys[me] = g.fromKeys.p[base + startA + me];
		values[me] = g.fromValues.p[base + startA + me];
	}
	if (me < countB) {
		keys[mergeSample + me] = g.fromKeys.p[base + stride + startB + me];
		values[mergeSample + me] = g.fromValues.p[base + stride + startB + me];
	}
	__syncthreads();
	u32 keyA, valueA, keyB, valueB;
	int toA, toB;
	if (me < countA) {
		keyA = keys[me], valueA = values[me];
		toA = mergeRank(keys + mergeSample, keyA, countB, false) + me;
	}
	if (me < countB) {
		keyB = keys[mergeSample + me], valueB = values[mergeSample + me];
		toB = mergeRank(keys, keyB, countA, true) + me;
	}
	__syncthreads();
	if (me < countA) keys[toA] = keyA, values[toA] = valueA;
	if (me < countB) keys[toB] = keyB, values[toB] = valueB;
	__syncthreads();
	for (int i = me; i < countA + countB; i += mergeSample) {
		g.toKeys.p[base + startA + startB + i] = keys[i];
		g.toValues.p[base + startA + startB + i] = values[i];
	}
}
