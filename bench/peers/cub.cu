// NVIDIA's CUB implementations of the algorithms of package prim, as a process that executes the suite's
// requests; peer.py describes the protocol. Inputs are random. A copy restores them before each run, which also
// lets the host get ahead of the GPU.
//
//	nvcc -O3 -arch=native -o cub cub.cu
#include <cub/cub.cuh>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>

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

// ALL_ELEMENTS is a loop over 0 to n-1, distributed over all threads.
#define ALL_ELEMENTS(i, n) for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)

__global__ void fill(uint64_t *x, size_t n, uint64_t seed, uint64_t mask) {
	ALL_ELEMENTS(i, n) x[i] = mix(seed + i) & mask;
}

// toWhole converts random bits to small integers with mean 0, whose sums are exact.
__global__ void toWhole(float *x, size_t n) {
	ALL_ELEMENTS(i, n) x[i] = float(int(reinterpret_cast<uint32_t *>(x)[i] % 255) - 127);
}

// toUniform converts random bits to numbers from 0 to 1.
__global__ void toUniform(float *x, size_t n) {
	ALL_ELEMENTS(i, n) x[i] = float(reinterpret_cast<uint32_t *>(x)[i] >> 8) / float(1 << 24);
}

// descents counts elements that are smaller than their predecessor.
template <class T> __global__ void descents(const T *x, size_t n, unsigned long long *found) {
	ALL_ELEMENTS(i, n) if (i > 0 && x[i] < x[i - 1]) atomicAdd(found, 1ull);
}

// missteps counts elements of a running sum whose difference from their predecessor is not the input element. Sums
// wrap; those of floats are integers and exact.
template <class T> __global__ void missteps(const T *in, const T *out, size_t n, unsigned long long *found) {
	ALL_ELEMENTS(i, n) {
		T before = i > 0 ? out[i - 1] : T(0);
		if (T(before + in[i]) != out[i]) atomicAdd(found, 1ull);
	}
}

// total adds numbers; digest adds the hashes of keys, so that it does not depend on their order.
template <class T> __global__ void total(const T *x, size_t n, double *sum) {
	double part = 0;
	ALL_ELEMENTS(i, n) part += double(x[i]);
	atomicAdd(sum, part);
}

template <class T> __global__ void digest(const T *x, size_t n, unsigned long long *sum) {
	unsigned long long part = 0;
	ALL_ELEMENTS(i, n) {
		T key = x[i];
		uint64_t bits = 0;
		memcpy(&bits, &key, sizeof key);
		part += mix(bits);
	}
	atomicAdd(sum, part);
}

struct Memory {
	void *result = nullptr; // where the last call left its result
	unsigned long long *found = nullptr;
	void *master = nullptr, *in = nullptr, *values = nullptr, *out = nullptr, *out2 = nullptr, *temp = nullptr;
	size_t bytes = 0, tempBytes = 0;

	void make(size_t size, uint64_t mask) {
		free();
		if (!found) CHECK(cudaMallocManaged(&found, sizeof *found));
		std::random_device seed;
		bytes = (size + 7) / 8 * 8;
		for (void **p : {&master, &in, &values, &out, &out2}) CHECK(cudaMalloc(p, bytes));
		fill<<<4096, 256>>>(static_cast<uint64_t *>(master), bytes / 8, seed(), mask);
		fill<<<4096, 256>>>(static_cast<uint64_t *>(values), bytes / 8, seed(), mask);
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
		m.result = m.out;
		return cub::DeviceScan::InclusiveSum(temp, bytes, static_cast<T *>(m.in), static_cast<T *>(m.out), n);
	};
}

template <class T> Call sum() {
	return [](void *temp, size_t &bytes, Memory &m, size_t n) {
		m.result = m.out;
		return cub::DeviceReduce::Sum(temp, bytes, static_cast<T *>(m.in), static_cast<T *>(m.out), n);
	};
}

template <class T> Call sortKeys() {
	return [](void *temp, size_t &bytes, Memory &m, size_t n) {
		cub::DoubleBuffer<T> keys(static_cast<T *>(m.in), static_cast<T *>(m.out));
		cudaError_t e = cub::DeviceRadixSort::SortKeys(temp, bytes, keys, n);
		m.result = keys.Current();
		return e;
	};
}

template <class K, class V> Call sortPairs() {
	return [](void *temp, size_t &bytes, Memory &m, size_t n) {
		cub::DoubleBuffer<K> keys(static_cast<K *>(m.in), static_cast<K *>(m.out));
		cub::DoubleBuffer<V> values(static_cast<V *>(m.values), static_cast<V *>(m.out2));
		cudaError_t e = cub::DeviceRadixSort::SortPairs(temp, bytes, keys, values, n);
		m.result = keys.Current();
		return e;
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

// Right reports whether the result of the last call is correct.
using Right = std::function<bool(Memory &m, size_t n)>;

template <class T> Right steps() {
	return [](Memory &m, size_t n) {
		*m.found = 0;
		missteps<<<4096, 256>>>(static_cast<const T *>(m.master), static_cast<const T *>(m.result), n, m.found);
		CHECK(cudaDeviceSynchronize());
		return *m.found == 0;
	};
}

template <class T> Right ascending() {
	return [](Memory &m, size_t n) {
		unsigned long long sums[2];
		int i = 0;
		for (const void *keys : {m.master, m.result}) {
			*m.found = 0;
			digest<<<4096, 256>>>(static_cast<const T *>(keys), n, m.found);
			CHECK(cudaDeviceSynchronize());
			sums[i++] = *m.found;
		}
		*m.found = 0;
		descents<<<4096, 256>>>(static_cast<const T *>(m.result), n, m.found);
		CHECK(cudaDeviceSynchronize());
		return *m.found == 0 && sums[0] == sums[1];
	};
}

bool summed(Memory &m, size_t n) {
	double sum = 0;
	CHECK(cudaMemset(m.found, 0, sizeof *m.found));
	total<<<4096, 256>>>(static_cast<const float *>(m.master), n, reinterpret_cast<double *>(m.found));
	CHECK(cudaDeviceSynchronize());
	memcpy(&sum, m.found, sizeof sum);
	float got = 0;
	CHECK(cudaMemcpy(&got, m.result, sizeof got, cudaMemcpyDeviceToHost));
	return got == float(sum);
}

// counted checks that all elements were counted, and that no count is far from the others.
bool counted(Memory &m, size_t n) {
	uint32_t counts[256];
	CHECK(cudaMemcpy(counts, m.out, sizeof counts, cudaMemcpyDeviceToHost));
	size_t sum = 0;
	for (uint32_t c : counts) {
		if (c < n / 512 || c > n / 128) return false;
		sum += c;
	}
	return sum == n;
}

// kept checks that the number of elements is the number of set flags.
bool kept(Memory &m, size_t n) {
	int64_t count = 0;
	CHECK(cudaMemcpy(&count, m.out2, sizeof count, cudaMemcpyDeviceToHost));
	double flags = 0;
	CHECK(cudaMemset(m.found, 0, sizeof *m.found));
	total<<<4096, 256>>>(static_cast<const uint8_t *>(m.values), n, reinterpret_cast<double *>(m.found));
	CHECK(cudaDeviceSynchronize());
	memcpy(&flags, m.found, sizeof flags);
	return double(count) == flags;
}

struct Case {
	const char *name;
	size_t element;
	uint64_t mask;
	void (*floats)(float *x, size_t n); // converts random bits to them; nullptr for other types
	Call call;
	Right right;
};

const uint64_t anyBits = ~0ull;

const Case cases[] = {
	{"prim-sum", 4, anyBits, toWhole, sum<float>(), summed},
	{"prim-scan", 4, anyBits, nullptr, inclusive<int32_t>(), steps<uint32_t>()},
	{"prim-scan-f32", 4, anyBits, toWhole, inclusive<float>(), steps<float>()},
	{"prim-scan-i64", 8, anyBits, nullptr, inclusive<int64_t>(), steps<uint64_t>()},
	{"prim-sort", 4, anyBits, nullptr, sortKeys<uint32_t>(), ascending<uint32_t>()},
	{"prim-sort-f32", 4, anyBits, toUniform, sortKeys<float>(), ascending<float>()},
	{"prim-sort-u64", 8, anyBits, nullptr, sortKeys<uint64_t>(), ascending<uint64_t>()},
	{"prim-sort-pairs", 4, anyBits, nullptr, sortPairs<uint32_t, uint32_t>(), ascending<uint32_t>()},
	{"prim-count", 1, anyBits, nullptr, histogram(), counted},
	{"prim-select", 4, 0x0101010101010101ull, nullptr, selected(), kept},
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
	// prepare returns the reason for which the case cannot be measured, or nullptr.
	const char *prepare(const char *name, size_t size) {
		c = nullptr;
		for (const Case &k : cases)
			if (!strcmp(k.name, name)) c = &k;
		if (!c) return "there is no such case";
		n = size;
		m.make(n * c->element, c->mask);
		if (c->floats) c->floats<<<4096, 256>>>(static_cast<float *>(m.master), n);
		CHECK(c->call(nullptr, m.tempBytes, m, n));
		CHECK(cudaMalloc(&m.temp, m.tempBytes));
		restore();
		CHECK(c->call(m.temp, m.tempBytes, m, n));
		CHECK(cudaDeviceSynchronize());
		return c->right(m, n) ? nullptr : "wrong result";
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
			const char *why = s.prepare(name, n);
			printf(why ? "{\"error\": \"%s\"}\n" : "{}\n", why);
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
