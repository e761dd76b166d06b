// The kernel of eigenvalues.go.

const int eigenThreads = 512;

struct EigenvaluesArgs { Slice<const float> diagonal, off; Slice<float> values; long long n; float low, high, precision; Hidden h; };

struct EigenShared {
	float left[eigenThreads], right[eigenThreads];
	int leftCount[eigenThreads], rightCount[eigenThreads];
	int sums[eigenThreads];
	float diagonal[eigenThreads], squares[eigenThreads];
	int active;
};

__device__ int below(const EigenShared& s, int n, float x) {
	int count = 0;
	float delta = 1;
	for (int k = 0; k < n; k++) {
		float square = k > 0 ? s.squares[k - 1] : 0;
		delta = s.diagonal[k] - x - square / delta;
		if (delta < 0) count++;
	}
	return count;
}

__device__ void scan(EigenShared& s) {
	int me = threadIdx.x;
	for (int step = 1; step < eigenThreads; step *= 2) {
		int v = me >= step ? s.sums[me - step] : 0;
		__syncthreads();
		s.sums[me] += v;
		__syncthreads();
	}
}

KERNEL eigenvalues(const EigenvaluesArgs g) {
	__shared__ EigenShared s;
	int n = g.n, me = threadIdx.x, first = blockIdx.x * n;
	if (me < n) {
		s.diagonal[me] = g.diagonal.p[first + me];
		s.squares[me] = g.off.p[first + me] * g.off.p[first + me];
	}
	if (me == 0) s.left[0] = g.low, s.right[0] = g.high, s.leftCount[0] = 0, s.rightCount[0] = n, s.active = 1;
	__syncthreads();
	for (;;) {
		int active = s.active, leftCount = 0, rightCount = 0, count = 0;
		bool divide = false;
		float left = 0, right = 0, middle = 0;
		if (me < active) {
			left = s.left[me], right = s.right[me], leftCount = s.leftCount[me], rightCount = s.rightCount[me];
			if (right - left > fmaxf(g.precision, 1e-6f * fmaxf(fabsf(left), fabsf(right)))) {
				divide = true;
				middle = 0.5f * (left + right);
				count = below(s, n, middle);
				count = min(max(count, leftCount), rightCount);
			}
		}
		if (!__syncthreads_or(divide)) break;
		int isNew = 0;
		if (!divide) {
		} else if (count == leftCount) {
			s.left[me] = middle;
		} else if (count == rightCount) {
			s.right[me] = middle;
		} else {
			s.right[me] = middle, s.rightCount[me] = count;
			isNew = 1;
		}
		s.sums[me] = isNew;
		__syncthreads();
		scan(s);
		if (isNew) {
			int to = active + s.sums[me] - 1;
			s.left[to] = middle, s.right[to] = right, s.leftCount[to] = count, s.rightCount[to] = rightCount;
		}
		if (me == 0) s.active += s.sums[eigenThreads - 1];
		__syncthreads();
	}
	if (me < s.active)
		for (int k = s.leftCount[me]; k < s.rightCount[me]; k++) g.values.p[first + k] = 0.5f * (s.left[me] + s.right[me]);
}
