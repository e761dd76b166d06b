// The algorithms of package prim as NVIDIA's CUB has them, as a process that the suite asks; peer.py says
// what it asks and how it is answered. Inputs are random, and restored by a copy in front of each run,
// which also lets the host get ahead of the GPU.
//
//	nvcc -O3 -arch=native -o cub cub.cu
#include <cub/cub.cuh>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>

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

const uint64_t anyBits = ~0ull;

const Case cases[] = {
	{"prim-sum", 4, anyBits, true, sum<float>()},
	{"prim-scan", 4, anyBits, false, inclusive<int32_t>()},
	{"prim-scan-f32", 4, anyBits, true, inclusive<float>()},
	{"prim-scan-i64", 8, anyBits, false, inclusive<int64_t>()},
	{"prim-sort", 4, anyBits, false, sortKeys<uint32_t>()},
	{"prim-sort-f32", 4, anyBits, true, sortKeys<float>()},
	{"prim-sort-u64", 8, anyBits, false, sortKeys<uint64_t>()},
	{"prim-sort-pairs", 4, anyBits, false, sortPairs<uint32_t, uint32_t>()},
	{"prim-count", 1, anyBits, false, histogram()},
	{"prim-select", 4, 0x0101010101010101ull, false, selected()},
};

// Server holds the case that is being measured.
struct Server {
	Memory m;
	cudaEvent_t begin, end;
	const Case *c = nullptr;
	size_t n = 0;

	Server() {
		CHECK(cudaEventCreate(&begin));
		CHECK(cudaEventCreate(&end));
	}
	bool prepare(const char *name, size_t size) {
		c = nullptr;
		for (const Case &k : cases)
			if (!strcmp(k.name, name)) c = &k;
		if (!c) return false;
		n = size;
		m.make(n * c->element, c->mask);
		if (c->floats) toFloat<<<4096, 256>>>(static_cast<float *>(m.master), n);
		CHECK(c->call(nullptr, m.tempBytes, m, n));
		CHECK(cudaMalloc(&m.temp, m.tempBytes));
		restore();
		CHECK(c->call(m.temp, m.tempBytes, m, n));
		CHECK(cudaDeviceSynchronize());
		return true;
	}
	void restore() { CHECK(cudaMemcpyAsync(m.in, m.master, m.bytes, cudaMemcpyDeviceToDevice)); }
	double round() {
		restore();
		CHECK(c->call(m.temp, m.tempBytes, m, n));
		restore();
		CHECK(cudaEventRecord(begin));
		CHECK(c->call(m.temp, m.tempBytes, m, n));
		CHECK(cudaEventRecord(end));
		CHECK(cudaDeviceSynchronize());
		float ms = 0;
		CHECK(cudaEventElapsedTime(&ms, begin, end));
		return ms / 1e3;
	}
};

void greet() {
	int runtime = 0;
	CHECK(cudaRuntimeGetVersion(&runtime));
	printf("{\"about\": \"CUB %d.%d of CUDA %d.%d\", \"cases\": [", CUB_VERSION / 100000, CUB_VERSION / 100 % 1000, runtime / 1000, runtime % 1000 / 10);
	const char *comma = "";
	for (const Case &k : cases) {
		printf("%s\"%s\"", comma, k.name);
		comma = ", ";
	}
	printf("]}\n");
	fflush(stdout);
}

int main() {
	Server s;
	greet();
	char word[64], name[64];
	size_t n;
	while (scanf("%63s", word) == 1) {
		if (!strcmp(word, "prepare") && scanf("%63s %zu", name, &n) == 2) {
			printf(s.prepare(name, n) ? "{}\n" : "{\"error\": \"there is no such case\"}\n");
		} else if (!strcmp(word, "round") && s.c) {
			printf("{\"seconds\": %.9f}\n", s.round());
		} else {
			s.m.free();
			s.c = nullptr;
			printf("{}\n");
		}
		fflush(stdout);
	}
}
