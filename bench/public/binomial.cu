// The kernel of binomial.go.

const int binomialSteps = 2048, binomialThreads = 128, binomialOwn = binomialSteps / binomialThreads;

struct BinomialOption { float price, strike, step, up, down; };

struct BinomialOptionsArgs { Slice<const BinomialOption> options; Slice<float> calls; Hidden h; };

__device__ float atExpiry(BinomialOption o, int i) {
	return fmaxf(o.price * expf(o.step * (2 * i - binomialSteps)) - o.strike, 0);
}

KERNEL binomialOptions(const BinomialOptionsArgs g) {
	__shared__ float exchange[binomialThreads + 1];
	int me = threadIdx.x;
	BinomialOption o = g.options.p[blockIdx.x];
	float call[binomialOwn + 1];
	for (int i = 0; i < binomialOwn; i++) call[i] = atExpiry(o, me * binomialOwn + i);
	if (me == 0) exchange[binomialThreads] = atExpiry(o, binomialSteps);
	int last = max(0, me * binomialOwn - 1);
	for (int i = binomialSteps; i > 0; i--) {
		exchange[me] = call[0];
		__syncthreads();
		call[binomialOwn] = exchange[me + 1];
		__syncthreads();
		if (i > last)
			for (int j = 0; j < binomialOwn; j++) call[j] = o.up * call[j + 1] + o.down * call[j];
	}
	if (me == 0) g.calls.p[blockIdx.x] = call[0];
}
