// The kernel of tpacf.go.

const int tpacfThreads = 256, tpacfWarps = tpacfThreads / 32, tpacfBins = 22, tpacfSets = 32;

struct Direction { float x, y, z; };

struct TpacfArgs { Slice<const Direction> sets; Slice<const float> bounds; Slice<u32> histograms; long long n; Hidden h; };

KERNEL tpacf(const TpacfArgs g) {
	__shared__ Direction tile[tpacfThreads];
	__shared__ u32 counts[tpacfBins * tpacfWarps];
	const float* bounds = g.bounds.p;
	int n = g.n, me = threadIdx.x, block = blockIdx.x;
	for (int i = me; i < tpacfBins * tpacfWarps; i += tpacfThreads) counts[i] = 0;
	const Direction *one = g.sets.p, *two = g.sets.p;
	bool self = block <= tpacfSets;
	if (self) {
		one = g.sets.p + block * n;
		two = one;
	} else {
		two = g.sets.p + (block - tpacfSets) * n;
	}
	__syncthreads();
	for (int i = 0; i < n; i += tpacfThreads) {
		if (i + me < n) tile[me] = one[i + me];
		__syncthreads();
		for (int j = self ? i + 1 : 0; j < n; j += tpacfThreads) {
			if (j + me >= n) continue;
			Direction d = two[j + me];
			for (int k = 0; k < tpacfThreads && k + i < n; k++) {
				if (self && k + i >= j + me) continue;
				float dot = d.x * tile[k].x + d.y * tile[k].y + d.z * tile[k].z;
				int low = 0, high = tpacfBins - 2;
				while (high > low + 1) {
					int middle = (low + high) / 2;
					if (dot >= bounds[middle]) high = middle;
					else low = middle;
				}
				int bin = high;
				if (dot >= bounds[low]) bin = low;
				else if (dot < bounds[high]) bin = high + 1;
				atomicAdd(&counts[bin * tpacfWarps + me / 32], 1);
			}
		}
		__syncthreads();
	}
	if (me < tpacfBins) {
		u32 sum = 0;
		for (int w = 0; w < tpacfWarps; w++) sum += counts[me * tpacfWarps + w];
		g.histograms.p[block * tpacfBins + me] = sum;
	}
}
