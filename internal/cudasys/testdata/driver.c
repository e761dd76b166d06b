// A driver that only records the arguments of its calls, for TestCalls.
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

// The options are info log, its size, error log, its size; sizes are stored in the pointers.
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

static int64_t current;
int cuCtxSetCurrent(void *c) {
	if ((int64_t)c == 13) return 201;
	current = (int64_t)c;
	return 0;
}

int cuGraphLaunch(void *x, void *stream) {
	REMEMBER((int64_t)x, (int64_t)stream, current);
	return 0;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		unsigned shared, void *stream, void **params, void **extra) {
	REMEMBER((int64_t)f, gx, gy, gz, bx, by, bz, shared, (int64_t)stream, *(int64_t *)params[0], (int64_t)extra);
	return 0;
}

// The structs below are declared as in cuda.h, up to the last field that the tests use.
typedef struct { unsigned id; char pad[4]; union { char bytes[64]; int number; struct { unsigned x, y, z; } dim; } value; } Attribute;

typedef struct {
	unsigned gx, gy, gz, bx, by, bz, shared;
	void *stream;
	Attribute *attributes;
	unsigned n;
} Config;

int cuLaunchKernelEx(const Config *c, void *f, void **params, void **extra) {
	REMEMBER((int64_t)f, c->gx, c->gy, c->gz, c->bx, c->by, c->bz, c->shared, (int64_t)c->stream, c->n,
		c->attributes[0].id, c->attributes[0].value.number, c->attributes[1].id, c->attributes[1].value.dim.y,
		*(int64_t *)params[0], (int64_t)extra);
	return 0;
}

typedef struct {
	void *f;
	unsigned gx, gy, gz, bx, by, bz, shared;
	void **params, **extra;
	void *kern, *context;
} KernelNode;

int cuGraphAddKernelNode_v2(void **node, void *graph, void **after, size_t n, const KernelNode *p) {
	REMEMBER(0, (int64_t)graph, (int64_t)after[1], n, (int64_t)p->f, p->gz, p->bx, p->shared, *(int64_t *)p->params[0],
		(int64_t)p->extra, (int64_t)p->kern, (int64_t)p->context);
	*node = (void *)7;
	return 0;
}

typedef struct { size_t x, y; int type; void *host; uint64_t device; void *array; size_t pitch; } Side2D;
typedef struct { Side2D src, dst; size_t width, height; } Copy2D;

int cuMemcpy2DAsync_v2(const Copy2D *c, void *stream) {
	REMEMBER(c->src.x, c->src.type, c->src.device, c->src.pitch, c->dst.y, c->dst.type, c->dst.device, c->dst.pitch,
		c->width, c->height, (int64_t)stream);
	return 0;
}

typedef struct {
	size_t x, y, z, lod;
	int type;
	void *host;
	uint64_t device;
	void *array, *reserved;
	size_t pitch, height;
} Side3D;
typedef struct { Side3D src, dst; size_t width, height, depth; } Copy3D;

int cuGraphAddMemcpyNode(void **node, void *graph, void **after, size_t n, const Copy3D *c, void *context) {
	REMEMBER((int64_t)graph, n, c->src.type, *(int *)c->src.host, c->src.pitch, c->dst.type, c->dst.device, c->dst.height,
		c->width, c->height, c->depth, (int64_t)context);
	*node = (void *)8;
	return 0;
}

typedef struct { uint64_t dst; size_t pitch; unsigned value, size; size_t width, height; } Memset;

int cuGraphAddMemsetNode(void **node, void *graph, void **after, size_t n, const Memset *m, void *context) {
	REMEMBER((int64_t)graph, n, m->dst, m->pitch, m->value, m->size, m->width, m->height, (int64_t)context);
	*node = (void *)9;
	return 0;
}

typedef struct { unsigned char from, to, type, reserved[5]; } EdgeData;

int cuGraphAddDependencies_v2(void *graph, void **from, void **to, const EdgeData *data, size_t n) {
	REMEMBER((int64_t)graph, (int64_t)from[0], (int64_t)to[0], data->from, data->to, data->type, data->reserved[4], n);
	return 0;
}

int cuGraphKernelNodeSetAttribute(void *node, unsigned id, const void *value) {
	REMEMBER((int64_t)node, id, ((const unsigned *)value)[2]);
	return 0;
}

typedef struct {
	int type, handles;
	struct { int type, id; } location;
	void *security;
	size_t most;
	unsigned short usage;
	unsigned char reserved[54];
} PoolProps;

int cuMemPoolCreate(void **pool, const PoolProps *p) {
	REMEMBER(sizeof *p, p->type, p->handles, p->location.type, p->location.id, (int64_t)p->security, p->most, p->usage, p->reserved[53]);
	*pool = (void *)10;
	return 0;
}

int cuMemAllocFromPoolAsync(uint64_t *p, size_t n, void *pool, void *stream) {
	REMEMBER(0, n, (int64_t)pool, (int64_t)stream);
	*p = 0x7f0000000001;
	return 0;
}

int cuMemPrefetchAsync(uint64_t p, size_t n, int device, void *stream) {
	REMEMBER(p, n, device, (int64_t)stream);
	return 0;
}

int cuMemcpyPeerAsync(uint64_t dst, void *dstContext, uint64_t src, void *srcContext, size_t n, void *stream) {
	REMEMBER(dst, (int64_t)dstContext, src, (int64_t)srcContext, n, (int64_t)stream);
	return 0;
}

int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *f, void *callback, size_t shared, int limit) {
	REMEMBER(0, 0, (int64_t)f, (int64_t)callback, shared, limit);
	*grid = 264;
	*block = 512;
	return 0;
}

int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
	REMEMBER(0, flags, priority);
	*stream = (void *)11;
	return 0;
}
