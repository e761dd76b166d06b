// The twin of main.go in CUDA C++.
//
//	nvcc -O3 -o /tmp/launch launch.cu -lcublas -lcufft -ldl && /tmp/launch

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cufft.h>

struct Slice { float *p; long len, cap; };
typedef Slice S;

__global__ void empty0() {}
__global__ void empty1(S) {}
__global__ void empty4(S, S, S, S) {}
__global__ void empty16(S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S) {}
__global__ void step(S x) {
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < x.len) x.p[i] = x.p[i] * 0.5f + 1;
}

static const int samples = 51, launches = 300, steps = 100, elements = 1024, calls = 1000000;

static void check(cudaError_t s, const char *what) {
	if (s != cudaSuccess) {
		fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(s));
		exit(1);
	}
}

typedef std::chrono::steady_clock steady;
static double since(steady::time_point start) { return std::chrono::duration<double, std::micro>(steady::now() - start).count(); }
static double median(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }

template <class F> static double measure(cudaStream_t s, F launch) {
	std::vector<double> took;
	for (int i = 0; i < samples; i++) {
		auto start = steady::now();
		for (int j = 0; j < launches; j++) {
			launch();
		}
		took.push_back(since(start));
		check(cudaStreamSynchronize(s), "wait");
	}
	return median(took) / launches;
}

__attribute__((noinline)) static int plain(int x) { __asm__ volatile(""); return x; }

int main() {
	cudaStream_t s;
	check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "stream");
	S x = {nullptr, elements, elements};
	check(cudaMalloc(&x.p, elements * sizeof(float)), "memory");
	check(cudaMemset(x.p, 0, elements * sizeof(float)), "memory");
	check(cudaDeviceSynchronize(), "memory");
	printf("C++ launch, 0 arguments: %.2f us\n", measure(s, [&] { empty0<<<1, 32, 0, s>>>(); check(cudaGetLastError(), "launch"); }));
	printf("C++ launch, 1 arguments: %.2f us\n", measure(s, [&] { empty1<<<1, 32, 0, s>>>(x); check(cudaGetLastError(), "launch"); }));
	printf("C++ launch, 4 arguments: %.2f us\n", measure(s, [&] { empty4<<<1, 32, 0, s>>>(x, x, x, x); check(cudaGetLastError(), "launch"); }));
	printf("C++ launch, 16 arguments: %.2f us\n", measure(s, [&] { empty16<<<1, 32, 0, s>>>(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x); check(cudaGetLastError(), "launch"); }));

	cudaGraph_t graph;
	cudaGraphExec_t exec;
	check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "capture");
	for (int i = 0; i < steps; i++) step<<<elements / 256, 256, 0, s>>>(x);
	check(cudaStreamEndCapture(s, &graph), "capture");
	check(cudaGraphInstantiate(&exec, graph, 0), "graph");
	std::vector<double> replay, enqueue;
	for (int i = 0; i < 4 * samples; i++) {
		auto start = steady::now();
		check(cudaGraphLaunch(exec, s), "graph");
		enqueue.push_back(since(start));
		check(cudaStreamSynchronize(s), "wait");
		replay.push_back(since(start));
	}
	printf("C++ graph of %d kernels: %.2f us, of which enqueuing %.2f us\n", steps, median(replay), median(enqueue));

	cublasHandle_t blas;
	float *a, one = 1, zero = 0;
	check(cudaMalloc(&a, 32 * 32 * 4), "memory");
	check(cudaMemset(a, 0, 32 * 32 * 4), "memory");
	if (cublasCreate(&blas) || cublasSetStream(blas, s)) return 1;
	printf("C++ cuBLAS, product of 32 by 32: %.2f us\n", measure(s, [&] {
		if (cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, a, 32, a, 32, &zero, a, 32)) exit(1);
	}));
	cufftHandle fft;
	cufftComplex *c;
	check(cudaMalloc(&c, 64 * sizeof *c), "memory");
	check(cudaMemset(c, 0, 64 * sizeof *c), "memory");
	check(cudaDeviceSynchronize(), "memory");
	if (cufftPlan1d(&fft, 64, CUFFT_C2C, 1) || cufftSetStream(fft, s)) return 1;
	printf("C++ cuFFT, transform of 64: %.2f us\n", measure(s, [&] { if (cufftExecC2C(fft, c, c, CUFFT_FORWARD)) exit(1); }));

	auto start = steady::now();
	for (int i = 0; i < calls; i++) plain(7);
	printf("C++ call, C++: %.1f ns\n", since(start) * 1e3 / calls);
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	auto version = (int (*)(int *))dlsym(lib, "cuDriverGetVersion");
	int v;
	start = steady::now();
	for (int i = 0; i < calls; i++) version(&v);
	printf("C++ call, driver (cuDriverGetVersion): %.1f ns\n", since(start) * 1e3 / calls);
	return 0;
}
