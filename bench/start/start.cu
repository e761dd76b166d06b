// The bare driver program: it does the same as bench/start with driver calls alone. It loads the same PTX.
//
//	nvcc -O2 -o bare start.cu -ldl
//	./bare -since $(date +%s%N)
#include <cuda.h>
#include <dlfcn.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static long long began;
static std::string report;

static long long now() {
	timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void mark(const char *name) {
	char text[64];
	snprintf(text, sizeof text, "%s%s %.3f", report.empty() ? "" : " ", name, (now() - began) / 1e6);
	report += text;
}

static void check(CUresult r, const char *what) {
	if (r != CUDA_SUCCESS) {
		fprintf(stderr, "bare: %s: error %d\n", what, r);
		exit(1);
	}
}
#define CHECK(call) check(call, #call)

static void *library;

template <class F> static F *symbol(F *, const char *name) {
	void *p = dlsym(library, name);
	if (!p) {
		fprintf(stderr, "bare: no %s\n", name);
		exit(1);
	}
	return reinterpret_cast<F *>(p);
}
#define QUOTE2(x) #x
#define QUOTE(x) QUOTE2(x)
#define USE(f) auto *p_##f = symbol(static_cast<decltype(f) *>(nullptr), QUOTE(f))

// slice is a Go slice in a parameter block.
struct slice {
	CUdeviceptr data;
	int64_t length, capacity;
};

// parameters are the kernel's, those that the runtime adds, and the number of elements.
struct parameters {
	slice a, b, c;
	uint64_t hidden[2];
	uint64_t elements;
};

int main(int argc, char **argv) {
	began = argc > 2 ? atoll(argv[2]) : now();
	mark("main");
	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		fprintf(stderr, "bare: %s\n", dlerror());
		return 1;
	}
	USE(cuInit);
	USE(cuDeviceGet);
	USE(cuDevicePrimaryCtxRetain);
	USE(cuCtxSetCurrent);
	USE(cuStreamCreate);
	USE(cuMemAlloc);
	USE(cuMemcpyHtoDAsync);
	USE(cuMemcpyDtoHAsync);
	USE(cuModuleLoadData);
	USE(cuModuleGetFunction);
	USE(cuLaunchKernel);
	USE(cuStreamSynchronize);
	USE(cuDevicePrimaryCtxRelease);
	CUdevice device;
	CUcontext context;
	CUstream stream;
	CHECK(p_cuInit(0));
	CHECK(p_cuDeviceGet(&device, 0));
	CHECK(p_cuDevicePrimaryCtxRetain(&context, device));
	CHECK(p_cuCtxSetCurrent(context));
	CHECK(p_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	mark("open");

	const int n = 1 << 20;
	std::vector<float> x(n), y(n), got(n);
	for (int i = 0; i < n; i++) {
		x[i] = i;
		y[i] = 1;
	}
	CUdeviceptr a, b, c;
	CHECK(p_cuMemAlloc(&a, n * sizeof(float)));
	CHECK(p_cuMemAlloc(&b, n * sizeof(float)));
	CHECK(p_cuMemAlloc(&c, n * sizeof(float)));
	CHECK(p_cuMemcpyHtoDAsync(a, x.data(), n * sizeof(float), stream));
	CHECK(p_cuMemcpyHtoDAsync(b, y.data(), n * sizeof(float), stream));
	mark("upload");

	std::string file = argv[0]; // the PTX is in the program's folder
	file = file.substr(0, file.find_last_of('/') + 1) + "add.ptx";
	FILE *f = fopen(file.c_str(), "rb");
	if (!f) {
		fprintf(stderr, "bare: no %s\n", file.c_str());
		return 1;
	}
	std::string ptx;
	for (int byte; (byte = fgetc(f)) != EOF;) ptx += char(byte);
	fclose(f);
	CUmodule module;
	CUfunction add;
	CHECK(p_cuModuleLoadData(&module, ptx.c_str()));
	CHECK(p_cuModuleGetFunction(&add, module, "add"));
	parameters p = {{a, n, n}, {b, n, n}, {c, n, n}, {0, 0}, n};
	size_t size = sizeof p;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
	CHECK(p_cuLaunchKernel(add, n / 4 / 256, 1, 1, 256, 1, 1, 0, stream, nullptr, extra));
	mark("launch");

	CHECK(p_cuMemcpyDtoHAsync(got.data(), c, n * sizeof(float), stream));
	CHECK(p_cuStreamSynchronize(stream));
	for (int i = 0; i < n; i++) {
		if (got[i] != float(i) + 1) {
			fprintf(stderr, "bare: element %d is %g\n", i, got[i]);
			return 1;
		}
	}
	mark("result");
	printf("%s\n", report.c_str());
	fflush(stdout);
	CHECK(p_cuDevicePrimaryCtxRelease(device));
	return 0;
}
