// The algorithms of package prim as NVIDIA's CUB has them, timed when bench/prim asks: a line on
// standard input names a case and its size, a line on standard output says the milliseconds of one
// run. Inputs are random, and restored by a copy in front of each run, which also lets the host get
// ahead of the GPU.
//
//	nvcc -O3 -arch=sm_90 -o cub cub.cu
#include <cub/cub.cuh>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#define CHECK(call)                                                                  \
	do {                                                                             \
		cudaError_t e = (call);                                                      \
		if (e != cudaSuccess) {                                                      \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));               \
			exit(1);                                                                 \
		}                                                                            \
	} while (0)

// mix hashes a number, after splitmix64.
__device__ uint64_t mix(uint64_t x) {
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

__global__ void fill(uint64_t *x, size_t n, uint64_t seed, uint64_t mask) {
	for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
		x[i] = mix(seed + i) & mask;
}

__global__ void toFloat(float *x, size_t n) {
	for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
		x[i] = float(int(reinterpret_cast<uint32_t *>(x)[i] & 255) - 127);
}

struct Memory {
	void *master = nullptr, *in = nullptr, *values = nullptr, *out = nullptr, *out2 = nullptr, *temp = nullptr;
	size_t bytes = 0, tempBytes = 0;

	void make(size_t size, uint64_t mask) {
		free();
		bytes = (size + 7) / 8 * 8;
		for (void **p : {&master, &in, &values, &out, &out2}) CHECK(cudaMalloc(p, bytes));
		fill<<<4096, 256>>>(static_cast<uint64_t *>(master), bytes / 8, 42, mask);
		fill<<<4096, 256>>>(static_cast<uint64_t *>(values), bytes / 8, 43, mask);
		CHECK(cudaDeviceSynchronize());
	}
	void free() {
		for (void **p : {&master, &in, &values, &out, &out2, &temp}) {
			if (*p) CHECK(cudaFree(*p));
			*p = nullptr;
		}
		tempBytes = 0;
	}
};

using Call = std::function<cudaError_t(void *temp, size_t &bytes, Memory &m, size_t n)>;

template <class T> Call inclusive() {
	return [](void *temp, size_t &bytes, Memory &m, size_t n) {
		return cub::DeviceScan::InclusiveSum(temp, bytes, static_cast<T *>(m.in), static_cast<T *>(m.out), n);
	};
}

template <class T> Call exclusive() {
	return [](void *temp, size_t &bytes, Memory &m, size_t n) {
		return cub::DeviceScan::ExclusiveSum(temp, bytes, static_cast<T *>(m.in), static_cast<T *>(m.out), n);
	};
}

template <class T> Call sum() {
	return [](void *temp, size_t &bytes, Memory &m, size_t n) {
		return cub::DeviceReduce::Sum(temp, bytes, static_cast<T *>(m.in), static_cast<T *>(m.out), n);
	};
}

template <class T> Call sortKeys() {
	return [](void *temp, size_t &bytes, Memory &m, size_t n) {
		cub::DoubleBuffer<T> keys(static_cast<T *>(m.in), static_cast<T *>(m.out));
		return cub::DeviceRadixSort::SortKeys(temp, bytes, keys, n);
	};
}

template <class K, class V> Call sortPairs() {
	return [](void *temp, size_t &bytes, Memory &m, size_t n) {
		cub::DoubleBuffer<K> keys(static_cast<K *>(m.in), static_cast<K *>(m.out));
		cub::DoubleBuffer<V> values(static_cast<V *>(m.values), static_cast<V *>(m.out2));
		return cub::DeviceRadixSort::SortPairs(temp, bytes, keys, values, n);
	};
}

Call histogram() {
	return [](void *temp, size_t &bytes, Memory &m, size_t n) {
		return cub::DeviceHistogram::HistogramEven(temp, bytes, static_cast<uint8_t *>(m.in), static_cast<uint32_t *>(m.out), 257, 0, 256, int64_t(n));
	};
}

Call selected() {
	return [](void *temp, size_t &bytes, Memory &m, size_t n) {
		return cub::DeviceSelect::Flagged(temp, bytes, static_cast<uint32_t *>(m.in), static_cast<uint8_t *>(m.values), static_cast<uint32_t *>(m.out), static_cast<int64_t *>(m.out2), int64_t(n));
	};
}

struct Case {
	const char *name;
	size_t element;
	uint64_t mask;
	bool floats;
	Call call;
};

int main() {
	const uint64_t all = ~0ull;
	Case cases[] = {
		{"sum-float32", 4, all, true, sum<float>()},
		{"inclusive-int32", 4, all, false, inclusive<int32_t>()},
		{"inclusive-float32", 4, all, true, inclusive<float>()},
		{"exclusive-float32", 4, all, true, exclusive<float>()},
		{"inclusive-int64", 8, all, false, inclusive<int64_t>()},
		{"sort-uint32", 4, all, false, sortKeys<uint32_t>()},
		{"sort-float32", 4, all, true, sortKeys<float>()},
		{"sort-uint64", 8, all, false, sortKeys<uint64_t>()},
		{"sort-pairs", 4, all, false, sortPairs<uint32_t, uint32_t>()},
		{"histogram", 1, all, false, histogram()},
		{"select", 4, 0x0101010101010101ull, false, selected()},
	};
	Memory m;
	cudaEvent_t begin, end;
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	char name[64];
	size_t n;
	std::string held;
	while (scanf("%63s %zu", name, &n) == 2) {
		const Case *c = nullptr;
		for (const Case &k : cases)
			if (!strcmp(k.name, name)) c = &k;
		if (!c) {
			printf("-1\n");
			fflush(stdout);
			continue;
		}
		std::string wanted = std::string(name) + " " + std::to_string(n);
		if (held != wanted) {
			m.make(n * c->element, c->mask);
			if (c->floats) toFloat<<<4096, 256>>>(static_cast<float *>(m.master), n);
			CHECK(c->call(nullptr, m.tempBytes, m, n));
			CHECK(cudaMalloc(&m.temp, m.tempBytes));
			CHECK(cudaMemcpyAsync(m.in, m.master, m.bytes, cudaMemcpyDeviceToDevice));
			CHECK(c->call(m.temp, m.tempBytes, m, n));
			CHECK(cudaDeviceSynchronize());
			held = wanted;
		}
		CHECK(cudaMemcpyAsync(m.in, m.master, m.bytes, cudaMemcpyDeviceToDevice));
		CHECK(cudaEventRecord(begin));
		CHECK(c->call(m.temp, m.tempBytes, m, n));
		CHECK(cudaEventRecord(end));
		CHECK(cudaDeviceSynchronize());
		float ms = 0;
		CHECK(cudaEventElapsedTime(&ms, begin, end));
		printf("%.6f\n", ms);
		fflush(stdout);
	}
}
