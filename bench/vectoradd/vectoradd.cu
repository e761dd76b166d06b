// The twin of main.go: the same kernel compiled by nvcc, measured in the same way.
//
//	nvcc -O3 -arch=sm_90 vectoradd.cu -o vectoradd-nvcc && ./vectoradd-nvcc 268435456

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

__global__ void add(const float *a, const float *b, float *c, long long n) {
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		c[i] = a[i] + b[i];
	}
}

static const int warmups = 5, samples = 9, launches = 10;

static void check(cudaError_t status, const char *what) {
	if (status != cudaSuccess) {
		fprintf(stderr, "vectoradd-nvcc: %s: %s\n", what, cudaGetErrorString(status));
		exit(1);
	}
}

// uniform returns the next number of a xorshift generator, from 0 to 1.
static float uniform(uint64_t &state) {
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 40) * 0x1p-24f;
}

static float *upload(const std::vector<float> &host) {
	float *p;
	check(cudaMalloc(&p, host.size() * sizeof(float)), "cudaMalloc");
	check(cudaMemcpy(p, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
	return p;
}

int main(int argc, char **argv) {
	long long n = argc > 1 ? atoll(argv[1]) : 1 << 28;
	std::vector<float> a(n), b(n), c(n, NAN);
	uint64_t state = 88172645463325252ull;
	for (long long i = 0; i < n; i++) {
		a[i] = uniform(state);
		b[i] = uniform(state);
	}
	float *da = upload(a), *db = upload(b), *dc = upload(c);
	unsigned blocks = (unsigned)((n + 255) / 256);

	for (int i = 0; i < warmups; i++) {
		add<<<blocks, 256>>>(da, db, dc, n);
	}
	check(cudaGetLastError(), "launch");
	cudaEvent_t start, end;
	check(cudaEventCreate(&start), "cudaEventCreate");
	check(cudaEventCreate(&end), "cudaEventCreate");
	std::vector<float> times(samples);
	for (float &ms : times) {
		check(cudaEventRecord(start), "cudaEventRecord");
		for (int i = 0; i < launches; i++) {
			add<<<blocks, 256>>>(da, db, dc, n);
		}
		check(cudaEventRecord(end), "cudaEventRecord");
		check(cudaEventSynchronize(end), "cudaEventSynchronize");
		check(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
		ms /= launches;
	}
	check(cudaMemcpy(c.data(), dc, n * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
	for (long long i = 0; i < n; i++) {
		if (c[i] != a[i] + b[i]) {
			fprintf(stderr, "vectoradd-nvcc: c[%lld] = %g, want %g\n", i, c[i], a[i] + b[i]);
			return 1;
		}
	}
	std::sort(times.begin(), times.end());
	double ms = times[samples / 2];
	printf("add %lld: %.4f ms %.0f GB/s, checked, nvcc\n", n, ms, n * 12 / ms / 1e6);
	return 0;
}
