// The twin of main.go in CUDA C++: a library that main.go calls alternately with its own measurements, in one
// process and one context; and a program that prints the same lines.
//
//	nvcc -O3 -shared -Xcompiler -fPIC -o /tmp/launch.so launch.cu -lcublas -lcufft -ldl
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

static const int samples = 101, launches = 200, many = 10000, steps = 100, replays = 5, elements = 1024, calls = 1000000;

static void check(cudaError_t s, const char *what) {
	if (s != cudaSuccess) {
		fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(s));
		exit(1);
	}
}

typedef std::chrono::steady_clock steady;
static long since(steady::time_point start) { return std::chrono::duration_cast<std::chrono::nanoseconds>(steady::now() - start).count(); }

__attribute__((noinline)) static int plain(int x) { __asm__ volatile(""); return x; }

static cudaStream_t s;
static S x = {nullptr, elements, elements};
static cudaGraphExec_t exec;
static cublasHandle_t blas;
static cufftHandle fft;
static float *a;
static cufftComplex *c;

// peer_start creates the objects of the measurements.
extern "C" int peer_start() {
	check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "stream");
	check(cudaMalloc(&x.p, elements * sizeof(float)), "memory");
	check(cudaMemset(x.p, 0, elements * sizeof(float)), "memory");
	check(cudaMalloc(&a, 32 * 32 * 4), "memory");
	check(cudaMemset(a, 0, 32 * 32 * 4), "memory");
	check(cudaMalloc(&c, 64 * sizeof *c), "memory");
	check(cudaMemset(c, 0, 64 * sizeof *c), "memory");
	check(cudaDeviceSynchronize(), "memory");
	cudaGraph_t graph;
	check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "capture");
	for (int i = 0; i < steps; i++) step<<<elements / 256, 256, 0, s>>>(x);
	check(cudaStreamEndCapture(s, &graph), "capture");
	check(cudaGraphInstantiate(&exec, graph, 0), "graph");
	if (cublasCreate(&blas) || cublasSetStream(blas, s)) return 1;
	return cufftPlan1d(&fft, 64, CUFFT_C2C, 1) || cufftSetStream(fft, s);
}

template <class F> static long times(F launch) {
	auto start = steady::now();
	for (int j = 0; j < launches; j++) launch();
	long took = since(start);
	check(cudaStreamSynchronize(s), "wait");
	return took;
}

static long queue; // nanoseconds to enqueue the graph, in the last sample

static long replay() {
	auto start = steady::now();
	check(cudaGraphLaunch(exec, s), "graph");
	queue = since(start);
	check(cudaStreamSynchronize(s), "wait");
	return since(start);
}

// peer_sample takes one sample of a measurement and returns nanoseconds; for launches and libraries, those of all calls.
extern "C" long peer_sample(long what) {
	const float one = 1, zero = 0;
	switch (what) {
	case 0: return times([] { empty0<<<1, 32, 0, s>>>(); check(cudaGetLastError(), "launch"); });
	case 1: return times([] { empty1<<<1, 32, 0, s>>>(x); check(cudaGetLastError(), "launch"); });
	case 2: return times([] { empty4<<<1, 32, 0, s>>>(x, x, x, x); check(cudaGetLastError(), "launch"); });
	case 3: return times([] { empty16<<<1, 32, 0, s>>>(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x); check(cudaGetLastError(), "launch"); });
	case 4: for (int i = 1; i < replays; i++) replay(); return replay();
	case 5: return queue;
	case 6: return times([&] { if (cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, a, 32, a, 32, &zero, a, 32)) exit(1); });
	case 7: return times([] { if (cufftExecC2C(fft, c, c, CUFFT_FORWARD)) exit(1); });
	case 8: {
		auto start = steady::now();
		for (int j = 0; j < many; j++) { empty1<<<1, 32, 0, s>>>(x); check(cudaGetLastError(), "launch"); }
		check(cudaStreamSynchronize(s), "wait");
		return since(start);
	}
	default: return -1;
	}
}

static double median(long what, double scale) {
	std::vector<long> v;
	for (int i = 0; i < samples; i++) {
		if (what == 5) peer_sample(4);
		v.push_back(peer_sample(what));
	}
	std::sort(v.begin(), v.end());
	return v[v.size() / 2] / scale;
}

int main() {
	if (peer_start()) return 1;
	const char *names[] = {"launch, 0 arguments", "launch, 1 arguments", "launch, 4 arguments", "launch, 16 arguments",
		"graph of 100 kernels", "graph of 100 kernels, enqueuing", "cuBLAS, product of 32 by 32", "cuFFT, transform of 64", "launch, 10000 to their end"};
	for (int i = 0; i < 9; i++) printf("C++ %s: %.2f us\n", names[i], median(i, i == 4 || i == 5 ? 1e3 : i == 8 ? 1e3 * many : 1e3 * launches));
	auto start = steady::now();
	for (int i = 0; i < calls; i++) plain(7);
	printf("C++ call, C++: %.1f ns\n", double(since(start)) / calls);
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	auto version = (int (*)(int *))dlsym(lib, "cuDriverGetVersion");
	int v;
	start = steady::now();
	for (int i = 0; i < calls; i++) version(&v);
	printf("C++ call, driver (cuDriverGetVersion): %.1f ns\n", double(since(start)) / calls);
	return 0;
}
