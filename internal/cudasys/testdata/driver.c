// A driver that only remembers how it was called, for TestCalls.
#include <stdint.h>
#include <string.h>

static int64_t args[16];
int64_t argument(int64_t i) { return args[i]; }

#define REMEMBER(...) do { \
	int64_t a[] = {__VA_ARGS__}; \
	memset(args, 0, sizeof args); \
	memcpy(args, a, sizeof a); \
} while (0)

int cuDeviceGetAttribute(int *v, int attribute, int device) {
	REMEMBER(0, attribute, device);
	*v = 1234;
	return 0;
}

int cuDeviceGetName(char *name, int n, int device) {
	REMEMBER(0, n, device);
	strncpy(name, "stub", n);
	return 0;
}

int cuMemAlloc_v2(uint64_t *p, size_t n) {
	REMEMBER(0, n);
	*p = 0x7f0123456789abcd;
	return 2;
}

int cuMemHostGetDevicePointer_v2(uint64_t *p, void *host, unsigned flags) {
	REMEMBER(0, *(int *)host, flags);
	*p = 77;
	return 0;
}

int cuMemcpyHtoDAsync_v2(uint64_t dst, const unsigned char *src, size_t n, void *stream) {
	REMEMBER(dst, src[0], n, (int64_t)stream);
	return 0;
}

int cuMemcpyDtoHAsync_v2(unsigned char *dst, uint64_t src, size_t n, void *stream) {
	REMEMBER(0, src, n, (int64_t)stream);
	memset(dst, 9, n);
	return 600;
}

int cuMemsetD8Async(uint64_t dst, unsigned char v, size_t n, void *stream) {
	REMEMBER(dst, v, n, (int64_t)stream);
	return 0;
}

int cuEventElapsedTime(float *ms, void *start, void *end) {
	REMEMBER(0, (int64_t)start, (int64_t)end);
	*ms = 1.5;
	return 0;
}

// The options are info log, its size, error log, its size; sizes stand in the pointers.
int cuModuleLoadDataEx(void **module, const char *image, unsigned n, int *options, void **values) {
	REMEMBER(0, image[0], n, options[0], options[1], options[2], options[3], (int64_t)values[1], (int64_t)values[3]);
	strcpy(values[0], "information");
	strcpy(values[2], "error");
	*module = (void *)5;
	return 218;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
	REMEMBER(0, (int64_t)module, strlen(name));
	*function = (void *)6;
	return 0;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		unsigned shared, void *stream, void **params, void **extra) {
	REMEMBER((int64_t)f, gx, gy, gz, bx, by, bz, shared, (int64_t)stream, *(int64_t *)params[0], (int64_t)extra);
	return 0;
}
