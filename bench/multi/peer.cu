// The copies of multi peer in CUDA C++: nvcc -O2 -o peer peer.cu
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s: %s\n", #call, cudaGetErrorString(e)); return 1; } } while (0)

int main() {
	const size_t bytes = 1 << 30;
	int n = 0;
	CHECK(cudaGetDeviceCount(&n));
	for (int from = 0; from < n && n > 1; from++) {
		int to = (from + 1) % n;
		void *src, *dst;
		cudaStream_t s;
		CHECK(cudaSetDevice(from));
		CHECK(cudaMalloc(&src, bytes));
		CHECK(cudaMemset(src, 1, bytes));
		cudaDeviceEnablePeerAccess(to, 0);
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaSetDevice(to));
		CHECK(cudaMalloc(&dst, bytes));
		cudaDeviceEnablePeerAccess(from, 0);
		cudaGetLastError(); // where there is no peer access the copies go through the host
		CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
		std::vector<double> all;
		for (int i = 0; i < 21; i++) {
			auto start = std::chrono::steady_clock::now();
			CHECK(cudaMemcpyPeerAsync(dst, to, src, from, bytes, s));
			CHECK(cudaStreamSynchronize(s));
			if (i) all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
		}
		std::sort(all.begin(), all.end());
		printf("C++: copy of 1 GiB from GPU %d to GPU %d: %.1f GB/s\n", from, to, bytes / all[all.size() / 2] / 1e9);
		CHECK(cudaFree(dst));
		CHECK(cudaSetDevice(from));
		CHECK(cudaFree(src));
	}
	return 0;
}
