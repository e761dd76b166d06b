// The kernels of this folder in CUDA C++, compiled at run time by nvcc -O3 -cubin after bench/harness/prelude.cu.
//
// The kernel with the Go kernel's name is its literal twin, line by line, with the 32-bit indices that
// CUDA programmers use. If a wider form is faster, the one with _best is how an expert writes the same
// algorithm: 16 bytes a load, shuffles, unrolled loops, launch bounds. Both have the arithmetic of the Go
// kernel: functions of math in double, square roots and divisions rounded correctly. Sizes are multiples of
// what a _best kernel takes at once.

const int width = 256;

// ---- stream

const float scalar32 = 0.4f;
const double scalar64 = 0.4;

struct Copy32Args { Slice<const float> a; Slice<float> c; Hidden h; };
struct Mul32Args { Slice<const float> c; Slice<float> b; Hidden h; };
struct Add32Args { Slice<const float> a, b; Slice<float> c; Hidden h; };
struct Triad32Args { Slice<const float> b, c; Slice<float> a; Hidden h; };
struct Copy64Args { Slice<const double> a; Slice<double> c; Hidden h; };
struct Mul64Args { Slice<const double> c; Slice<double> b; Hidden h; };
struct Add64Args { Slice<const double> a, b; Slice<double> c; Hidden h; };
struct Triad64Args { Slice<const double> b, c; Slice<double> a; Hidden h; };

KERNEL copy32(const Copy32Args g) {
	int i = globalX();
	if (i < g.c.len) g.c.p[i] = g.a.p[i];
}
KERNEL mul32(const Mul32Args g) {
	int i = globalX();
	if (i < g.b.len) g.b.p[i] = scalar32 * g.c.p[i];
}
KERNEL add32(const Add32Args g) {
	int i = globalX();
	if (i < g.c.len) g.c.p[i] = g.a.p[i] + g.b.p[i];
}
KERNEL triad32(const Triad32Args g) {
	int i = globalX();
	if (i < g.a.len) g.a.p[i] = g.b.p[i] + scalar32 * g.c.p[i];
}
KERNEL copy64(const Copy64Args g) {
	int i = globalX();
	if (i < g.c.len) g.c.p[i] = g.a.p[i];
}
KERNEL mul64(const Mul64Args g) {
	int i = globalX();
	if (i < g.b.len) g.b.p[i] = scalar64 * g.c.p[i];
}
KERNEL add64(const Add64Args g) {
	int i = globalX();
	if (i < g.c.len) g.c.p[i] = g.a.p[i] + g.b.p[i];
}
KERNEL triad64(const Triad64Args g) {
	int i = globalX();
	if (i < g.a.len) g.a.p[i] = g.b.p[i] + scalar64 * g.c.p[i];
}

// wide reads and writes 16 bytes.
__device__ float4 wide(const Slice<const float>& s, int i) { return __ldg((const float4*)s.p + i); }
__device__ double2 wide(const Slice<const double>& s, int i) { return __ldg((const double2*)s.p + i); }
__device__ void put(const Slice<float>& s, int i, float4 v) { ((float4*)s.p)[i] = v; }
__device__ void put(const Slice<double>& s, int i, double2 v) { ((double2*)s.p)[i] = v; }

KERNEL_OF(256) copy32_best(const Copy32Args g) {
	int i = globalX();
	if (i < g.c.len / 4) put(g.c, i, wide(g.a, i));
}
KERNEL_OF(256) mul32_best(const Mul32Args g) {
	int i = globalX();
	if (i >= g.b.len / 4) return;
	float4 x = wide(g.c, i);
	put(g.b, i, make_float4(scalar32 * x.x, scalar32 * x.y, scalar32 * x.z, scalar32 * x.w));
}
KERNEL_OF(256) add32_best(const Add32Args g) {
	int i = globalX();
	if (i >= g.c.len / 4) return;
	float4 x = wide(g.a, i), y = wide(g.b, i);
	put(g.c, i, make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w));
}
KERNEL_OF(256) triad32_best(const Triad32Args g) {
	int i = globalX();
	if (i >= g.a.len / 4) return;
	float4 x = wide(g.b, i), y = wide(g.c, i);
	put(g.a, i, make_float4(x.x + scalar32 * y.x, x.y + scalar32 * y.y, x.z + scalar32 * y.z, x.w + scalar32 * y.w));
}
KERNEL_OF(256) copy64_best(const Copy64Args g) {
	int i = globalX();
	if (i < g.c.len / 2) put(g.c, i, wide(g.a, i));
}
KERNEL_OF(256) mul64_best(const Mul64Args g) {
	int i = globalX();
	if (i >= g.b.len / 2) return;
	double2 x = wide(g.c, i);
	put(g.b, i, make_double2(scalar64 * x.x, scalar64 * x.y));
}
KERNEL_OF(256) add64_best(const Add64Args g) {
	int i = globalX();
	if (i >= g.c.len / 2) return;
	double2 x = wide(g.a, i), y = wide(g.b, i);
	put(g.c, i, make_double2(x.x + y.x, x.y + y.y));
}
KERNEL_OF(256) triad64_best(const Triad64Args g) {
	int i = globalX();
	if (i >= g.a.len / 2) return;
	double2 x = wide(g.b, i), y = wide(g.c, i);
	put(g.a, i, make_double2(x.x + scalar64 * y.x, x.y + scalar64 * y.y));
}

// ---- reduce

struct Dot32Args { Slice<const float> a, b; Slice<float> partial; Hidden h; };
struct Dot64Args { Slice<const double> a, b; Slice<double> partial; Hidden h; };
struct Sum32Args { Slice<const float> x; Slice<float> partial; Hidden h; };
struct Sum64Args { Slice<const double> x; Slice<double> partial; Hidden h; };

template <class T> __device__ T blockSum(T* sums, T v) {
	int me = threadIdx.x;
	sums[me] = v;
	__syncthreads();
	for (int half = width / 2; half > 0; half /= 2) {
		if (me < half) sums[me] += sums[me + half];
		__syncthreads();
	}
	return sums[0];
}

template <class T> __device__ T warpSum(T v) {
	for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
	return v;
}

// shuffledSum returns the block's sum to every thread; sums has a place for each warp.
template <class T> __device__ T shuffledSum(T* sums, T v) {
	v = warpSum(v);
	if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
	__syncthreads();
	v = threadIdx.x % 32 < width / 32 ? sums[threadIdx.x % 32] : T(0);
	return warpSum(v);
}

template <class T, class A> __device__ void dot(const A& g) {
	__shared__ T sums[width];
	T sum = 0;
	for (int i = globalX(); i < (int)g.a.len; i += gridDim.x * width) sum += g.a.p[i] * g.b.p[i];
	sum = blockSum(sums, sum);
	if (threadIdx.x == 0) g.partial.p[blockIdx.x] = sum;
}
KERNEL dot32(const Dot32Args g) { dot<float>(g); }
KERNEL dot64(const Dot64Args g) { dot<double>(g); }

template <class T, class A> __device__ void sum(const A& g) {
	__shared__ T sums[width];
	T sum = 0;
	for (int i = globalX(); i < (int)g.x.len; i += gridDim.x * width) sum += g.x.p[i];
	sum = blockSum(sums, sum);
	if (threadIdx.x == 0) g.partial.p[blockIdx.x] = sum;
}
KERNEL sum32(const Sum32Args g) { sum<float>(g); }
KERNEL sum64(const Sum64Args g) { sum<double>(g); }

__device__ float inner(float4 x, float4 y) { return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w; }
__device__ double inner(double2 x, double2 y) { return x.x * y.x + x.y * y.y; }
__device__ float inner(float4 x) { return (x.x + x.y) + (x.z + x.w); }
__device__ double inner(double2 x) { return x.x + x.y; }

template <class T, class A> __device__ void bestDot(const A& g) {
	__shared__ T sums[width / 32];
	T sum = 0;
	const int per = 16 / sizeof(T), n = g.a.len / per;
#pragma unroll 4
	for (int i = globalX(); i < n; i += gridDim.x * width) sum += inner(wide(g.a, i), wide(g.b, i));
	for (int i = n * per + globalX(); i < (int)g.a.len; i += gridDim.x * width) sum += g.a.p[i] * g.b.p[i];
	sum = shuffledSum(sums, sum);
	if (threadIdx.x == 0) g.partial.p[blockIdx.x] = sum;
}
KERNEL_OF(256) dot32_best(const Dot32Args g) { bestDot<float>(g); }
KERNEL_OF(256) dot64_best(const Dot64Args g) { bestDot<double>(g); }

template <class T, class A> __device__ void bestSum(const A& g) {
	__shared__ T sums[width / 32];
	T sum = 0;
	const int per = 16 / sizeof(T), n = g.x.len / per;
#pragma unroll 4
	for (int i = globalX(); i < n; i += gridDim.x * width) sum += inner(wide(g.x, i));
	for (int i = n * per + globalX(); i < (int)g.x.len; i += gridDim.x * width) sum += g.x.p[i];
	sum = shuffledSum(sums, sum);
	if (threadIdx.x == 0) g.partial.p[blockIdx.x] = sum;
}
KERNEL_OF(256) sum32_best(const Sum32Args g) { bestSum<float>(g); }
KERNEL_OF(256) sum64_best(const Sum64Args g) { bestSum<double>(g); }

// ---- scan

const int span = 1024;

struct ScanBlocksArgs { Slice<const int> x; Slice<int> y, sums; Hidden h; };
struct ScanSumsArgs { Slice<int> sums; Hidden h; };
struct AddOffsetsArgs { Slice<int> y; Slice<const int> offsets; Hidden h; };

__device__ int blockScan(int* part, int v) {
	int me = threadIdx.x;
	part[me] = v;
	__syncthreads();
	for (int distance = 1; distance < span; distance *= 2) {
		if (me >= distance) v += part[me - distance];
		__syncthreads();
		part[me] = v;
		__syncthreads();
	}
	return v;
}

KERNEL scanBlocks(const ScanBlocksArgs g) {
	__shared__ int part[span];
	int i = globalX();
	int v = 0;
	if (i < g.x.len) v = g.x.p[i];
	v = blockScan(part, v);
	if (i < g.y.len) g.y.p[i] = v;
	if (threadIdx.x == span - 1) g.sums.p[blockIdx.x] = v;
}

KERNEL scanSums(const ScanSumsArgs g) {
	__shared__ int part[span];
	int n = g.sums.len;
	int stretch = (n + span - 1) / span;
	int start = threadIdx.x * stretch, end = min(start + stretch, n);
	int total = 0;
	for (int i = start; i < end; i++) total += g.sums.p[i];
	int before = blockScan(part, total) - total;
	for (int i = start; i < end; i++) {
		int v = g.sums.p[i];
		g.sums.p[i] = before;
		before += v;
	}
}

KERNEL addOffsets(const AddOffsetsArgs g) {
	int i = globalX();
	if (i < g.y.len) g.y.p[i] += g.offsets.p[blockIdx.x];
}

__device__ int warpScan(int v) {
	for (int d = 1; d < 32; d *= 2) {
		int below = __shfl_up_sync(0xffffffff, v, d);
		if (threadIdx.x % 32 >= d) v += below;
	}
	return v;
}

// shuffledScan returns the sum of v up to this thread; part has 32 places.
__device__ int shuffledScan(int* part, int v) {
	int warp = threadIdx.x / 32, warps = blockDim.x / 32;
	v = warpScan(v);
	if (threadIdx.x % 32 == 31) part[warp] = v;
	__syncthreads();
	if (warp == 0) {
		int s = warpScan(threadIdx.x < warps ? part[threadIdx.x] : 0);
		part[threadIdx.x] = s;
	}
	__syncthreads();
	return warp > 0 ? v + part[warp - 1] : v;
}

// A block of 256 threads scans the same 1024 elements, four a thread.
KERNEL_OF(256) scanBlocks_best(const ScanBlocksArgs g) {
	__shared__ int part[32];
	int i = blockIdx.x * span + threadIdx.x * 4;
	int4 v = make_int4(0, 0, 0, 0);
	if (i < g.x.len) v = __ldg((const int4*)(g.x.p + i));
	v.y += v.x, v.z += v.y, v.w += v.z;
	int before = shuffledScan(part, v.w) - v.w;
	v.x += before, v.y += before, v.z += before, v.w += before;
	if (i < g.y.len) *(int4*)(g.y.p + i) = v;
	if (threadIdx.x == span / 4 - 1) g.sums.p[blockIdx.x] = v.w;
}

KERNEL_OF(1024) scanSums_best(const ScanSumsArgs g) {
	__shared__ int part[32];
	__shared__ int carried;
	int n = g.sums.len, carry = 0;
	for (int start = 0; start < n; start += span) {
		int i = start + threadIdx.x;
		int v = i < n ? g.sums.p[i] : 0;
		int until = shuffledScan(part, v) + carry;
		if (i < n) g.sums.p[i] = until - v;
		if (threadIdx.x == span - 1) carried = until;
		__syncthreads();
		carry = carried;
	}
}

KERNEL_OF(256) addOffsets_best(const AddOffsetsArgs g) {
	int i = blockIdx.x * span + threadIdx.x * 4;
	if (i >= g.y.len) return;
	int offset = __ldg(g.offsets.p + blockIdx.x);
	int4 v = *(int4*)(g.y.p + i);
	v.x += offset, v.y += offset, v.z += offset, v.w += offset;
	*(int4*)(g.y.p + i) = v;
}

// ---- histogram

const int bins = 256;

struct HistogramArgs { Slice<const u8> data; Slice<u32> counts; Hidden h; };

KERNEL histogram(const HistogramArgs g) {
	__shared__ u32 own[bins];
	int me = threadIdx.x;
	own[me] = 0;
	__syncthreads();
	for (long long i = globalX(); i < g.data.len; i += gridDim.x * bins) atomicAdd(&own[g.data.p[i]], 1);
	__syncthreads();
	atomicAdd(&g.counts.p[me], own[me]);
}

__device__ void count4(u32* own, u32 v) {
	atomicAdd(&own[v & 255], 1);
	atomicAdd(&own[v >> 8 & 255], 1);
	atomicAdd(&own[v >> 16 & 255], 1);
	atomicAdd(&own[v >> 24], 1);
}

KERNEL_OF(256) histogram_best(const HistogramArgs g) {
	__shared__ u32 own[bins];
	int me = threadIdx.x;
	own[me] = 0;
	__syncthreads();
	int n = g.data.len / 16;
	for (int i = globalX(); i < n; i += gridDim.x * bins) {
		uint4 v = __ldg((const uint4*)g.data.p + i);
		count4(own, v.x), count4(own, v.y), count4(own, v.z), count4(own, v.w);
	}
	__syncthreads();
	atomicAdd(&g.counts.p[me], own[me]);
}

// ---- Monte Carlo

const int throws = 1024;

struct MonteCarloArgs { Slice<u64> hits; u32 seed; Hidden h; };

__device__ u32 xorshift(u32 s) {
	s ^= s << 13;
	s ^= s >> 17;
	s ^= s << 5;
	return s;
}

__device__ u32 scramble(u32 s) {
	s = (s ^ s >> 16) * 0x45d9f3b;
	s = (s ^ s >> 16) * 0x45d9f3b;
	return s ^ s >> 16 | 1;
}

__device__ u32 throwAll(u32 state) {
	u32 mine = 0;
	for (int k = 0; k < throws; k++) {
		state = xorshift(state);
		float x = float(state >> 8) * (1.0f / (1 << 24));
		state = xorshift(state);
		float y = float(state >> 8) * (1.0f / (1 << 24));
		if (x * x + y * y < 1) mine++;
	}
	return mine;
}

KERNEL monteCarlo(const MonteCarloArgs g) {
	__shared__ u32 counts[width];
	u32 all = blockSum(counts, throwAll(scramble(g.seed ^ (u32)globalX())));
	if (threadIdx.x == 0) atomicAdd(&g.hits.p[0], (u64)all);
}

KERNEL_OF(256) monteCarlo_best(const MonteCarloArgs g) {
	__shared__ u32 counts[width / 32];
	u32 all = shuffledSum(counts, throwAll(scramble(g.seed ^ (u32)globalX())));
	if (threadIdx.x == 0) atomicAdd(&g.hits.p[0], (u64)all);
}

// ---- transpose

const int tile = 32;

struct TransposeNaiveArgs { Slice<const float> a; Slice<float> b; long long n; Hidden h; };
struct TransposeTiledArgs { Slice<const float> a; Slice<float> b; long long n; Hidden h; };

KERNEL transposeNaive(const TransposeNaiveArgs g) {
	int n = g.n, x = globalX(), y = globalY();
	if (x < n && y < n) g.b.p[x * n + y] = g.a.p[y * n + x];
}

KERNEL transposeTiled(const TransposeTiledArgs g) {
	__shared__ float part[tile][tile + 1];
	int n = g.n, tx = threadIdx.x, ty = threadIdx.y;
	int x = blockIdx.x * tile + tx, y = blockIdx.y * tile + ty;
	for (int j = 0; j < tile; j += 8)
		if (x < n && y + j < n) part[ty + j][tx] = g.a.p[(y + j) * n + x];
	__syncthreads();
	x = blockIdx.y * tile + tx, y = blockIdx.x * tile + ty;
	for (int j = 0; j < tile; j += 8)
		if (x < n && y + j < n) g.b.p[(y + j) * n + x] = part[tx][ty + j];
}

// A thread moves 4 x 4 elements; a block is 8 x 32 threads.
KERNEL_OF(256) transposeNaive_best(const TransposeNaiveArgs g) {
	int n = g.n, x = globalX() * 4, y = globalY() * 4;
	if (x >= n || y >= n) return;
	float4 r[4];
#pragma unroll
	for (int j = 0; j < 4; j++) r[j] = __ldg((const float4*)(g.a.p + (y + j) * n + x));
	*(float4*)(g.b.p + (x + 0) * n + y) = make_float4(r[0].x, r[1].x, r[2].x, r[3].x);
	*(float4*)(g.b.p + (x + 1) * n + y) = make_float4(r[0].y, r[1].y, r[2].y, r[3].y);
	*(float4*)(g.b.p + (x + 2) * n + y) = make_float4(r[0].z, r[1].z, r[2].z, r[3].z);
	*(float4*)(g.b.p + (x + 3) * n + y) = make_float4(r[0].w, r[1].w, r[2].w, r[3].w);
}

// A block of 16 x 16 threads moves a tile of 64 x 64, 16 bytes at a time on both sides.
KERNEL_OF(256) transposeTiled_best(const TransposeTiledArgs g) {
	__shared__ float part[64][65];
	int n = g.n, tx = threadIdx.x * 4, ty = threadIdx.y;
	int x = blockIdx.x * 64, y = blockIdx.y * 64;
#pragma unroll
	for (int j = 0; j < 64; j += 16) {
		float4 v = __ldg((const float4*)(g.a.p + (y + ty + j) * n + x + tx));
		part[ty + j][tx] = v.x, part[ty + j][tx + 1] = v.y, part[ty + j][tx + 2] = v.z, part[ty + j][tx + 3] = v.w;
	}
	__syncthreads();
#pragma unroll
	for (int j = 0; j < 64; j += 16) {
		float4 v = make_float4(part[tx][ty + j], part[tx + 1][ty + j], part[tx + 2][ty + j], part[tx + 3][ty + j]);
		*(float4*)(g.b.p + (x + ty + j) * n + y + tx) = v;
	}
}

// ---- rows

const float epsilon = 1e-5f;

struct SoftmaxArgs { Slice<const float> x; Slice<float> y; long long cols; Hidden h; };
struct LayerNormArgs { Slice<const float> x, scale, shift; Slice<float> y; long long cols; Hidden h; };

__device__ float blockMax(float* part, float v) {
	int me = threadIdx.x;
	part[me] = v;
	__syncthreads();
	for (int half = width / 2; half > 0; half /= 2) {
		if (me < half) part[me] = fmaxf(part[me], part[me + half]);
		__syncthreads();
	}
	return part[0];
}

KERNEL softmax(const SoftmaxArgs g) {
	__shared__ float part[width];
	int cols = g.cols, me = threadIdx.x, start = blockIdx.x * cols;
	float largest = -INFINITY;
	for (int i = me; i < cols; i += width) largest = fmaxf(largest, g.x.p[start + i]);
	largest = blockMax(part, largest);
	__syncthreads();
	float sum = 0;
	for (int i = me; i < cols; i += width) sum += expf(g.x.p[start + i] - largest);
	sum = blockSum(part, sum);
	for (int i = me; i < cols; i += width) g.y.p[start + i] = expf(g.x.p[start + i] - largest) / sum;
}

__device__ float shuffledMax(float* part, float v) {
	for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
	if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
	__syncthreads();
	v = part[threadIdx.x % 16];
	for (int d = 8; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
	return v;
}

// Rows of up to 16384 elements, in registers: 512 threads hold eight quads each.
KERNEL_OF(512, 2) softmax_best(const SoftmaxArgs g) {
	__shared__ float part[2][16];
	int n = g.cols / 4, me = threadIdx.x;
	const float4* x = (const float4*)(g.x.p + blockIdx.x * (int)g.cols);
	float4* y = (float4*)(g.y.p + blockIdx.x * (int)g.cols);
	float4 v[8];
	float largest = -INFINITY, sum = 0;
#pragma unroll
	for (int k = 0; k < 8; k++) {
		int i = me + k * 512;
		v[k] = i < n ? __ldg(x + i) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
	}
#pragma unroll
	for (int k = 0; k < 8; k++) largest = fmaxf(largest, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
	largest = shuffledMax(part[0], largest);
#pragma unroll
	for (int k = 0; k < 8; k++) {
		v[k] = make_float4(expf(v[k].x - largest), expf(v[k].y - largest), expf(v[k].z - largest), expf(v[k].w - largest));
		sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
	}
	for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
	if (me % 32 == 0) part[1][me / 32] = sum;
	__syncthreads();
	sum = part[1][me % 16];
	for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
	float inverse = 1 / sum;
#pragma unroll
	for (int k = 0; k < 8; k++) {
		int i = me + k * 512;
		if (i < n) y[i] = make_float4(v[k].x * inverse, v[k].y * inverse, v[k].z * inverse, v[k].w * inverse);
	}
}

KERNEL layerNorm(const LayerNormArgs g) {
	__shared__ float part[width];
	int cols = g.cols, me = threadIdx.x, start = blockIdx.x * cols;
	float sum = 0;
	for (int i = me; i < cols; i += width) sum += g.x.p[start + i];
	float mean = blockSum(part, sum) / cols;
	__syncthreads();
	float squares = 0;
	for (int i = me; i < cols; i += width) {
		float d = g.x.p[start + i] - mean;
		squares += d * d;
	}
	float variance = blockSum(part, squares) / cols;
	float factor = rsqrtf(variance + epsilon);
	for (int i = me; i < cols; i += width)
		g.y.p[start + i] = (g.x.p[start + i] - mean) * factor * g.scale.p[i] + g.shift.p[i];
}

KERNEL_OF(256) layerNorm_best(const LayerNormArgs g) {
	__shared__ float part[2][width / 32];
	int n = g.cols / 4, me = threadIdx.x;
	const float4* x = (const float4*)(g.x.p + blockIdx.x * (int)g.cols);
	float4* y = (float4*)(g.y.p + blockIdx.x * (int)g.cols);
	float sum = 0;
#pragma unroll 4
	for (int i = me; i < n; i += width) sum += inner(__ldg(x + i));
	float mean = shuffledSum(part[0], sum) / g.cols;
	float squares = 0;
#pragma unroll 4
	for (int i = me; i < n; i += width) {
		float4 v = __ldg(x + i);
		v.x -= mean, v.y -= mean, v.z -= mean, v.w -= mean;
		squares += inner(v, v);
	}
	float factor = rsqrtf(shuffledSum(part[1], squares) / g.cols + epsilon);
#pragma unroll 4
	for (int i = me; i < n; i += width) {
		float4 v = __ldg(x + i), a = wide(g.scale, i), b = wide(g.shift, i);
		y[i] = make_float4((v.x - mean) * factor * a.x + b.x, (v.y - mean) * factor * a.y + b.y,
			(v.z - mean) * factor * a.z + b.z, (v.w - mean) * factor * a.w + b.w);
	}
}

// ---- n bodies

struct Body { float x, y, z, mass; };
struct Vector { float x, y, z; };
const float softening = 1e-3f;

struct NbodyArgs { Slice<const Body> bodies; Slice<Vector> result; Hidden h; };

__device__ Vector attract(Vector sum, Body a, Body b) {
	float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
	float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
	float f = b.mass * inverse * inverse * inverse;
	return Vector{sum.x + f * dx, sum.y + f * dy, sum.z + f * dz};
}

KERNEL nbody(const NbodyArgs g) {
	__shared__ Body near[width];
	int i = globalX(), n = g.bodies.len;
	Body me = g.bodies.p[i];
	Vector sum = {0, 0, 0};
	for (int start = 0; start < n; start += width) {
		near[threadIdx.x] = g.bodies.p[start + threadIdx.x];
		__syncthreads();
		for (int j = 0; j < width; j++) sum = attract(sum, me, near[j]);
		__syncthreads();
	}
	g.result.p[i] = sum;
}

KERNEL_OF(256) nbody_best(const NbodyArgs g) {
	__shared__ float4 near[width];
	int i = globalX(), n = g.bodies.len;
	const float4* bodies = (const float4*)g.bodies.p;
	float4 m = __ldg(bodies + i);
	Body me = {m.x, m.y, m.z, m.w};
	Vector sum = {0, 0, 0};
	for (int start = 0; start < n; start += width) {
		near[threadIdx.x] = __ldg(bodies + start + threadIdx.x);
		__syncthreads();
#pragma unroll 16
		for (int j = 0; j < width; j++) {
			float4 b = near[j];
			sum = attract(sum, me, Body{b.x, b.y, b.z, b.w});
		}
		__syncthreads();
	}
	g.result.p[i] = sum;
}

// ---- mandelbrot

const int limit = 500;

struct Mandelbrot32Args { Slice<int> counts; long long n; Hidden h; };
struct Mandelbrot64Args { Slice<int> counts; long long n; Hidden h; };

template <class T, class A> __device__ void mandelbrot(const A& g) {
	int n = g.n, px = globalX(), py = globalY();
	if (px >= n || py >= n) return;
	T cx = -2 + 3 * T(px) / T(n), cy = T(-1.5) + 3 * T(py) / T(n);
	T x = 0, y = 0;
	int steps = 0;
	while (steps < limit && x * x + y * y <= 4) {
		T next = x * x - y * y + cx;
		y = 2 * x * y + cy, x = next;
		steps++;
	}
	g.counts.p[py * n + px] = steps;
}
KERNEL mandelbrot32(const Mandelbrot32Args g) { mandelbrot<float>(g); }
KERNEL mandelbrot64(const Mandelbrot64Args g) { mandelbrot<double>(g); }

// The squares are kept from the test to the step.
template <class T, class A> __device__ void bestMandelbrot(const A& g) {
	int n = g.n, px = globalX(), py = globalY();
	if (px >= n || py >= n) return;
	T cx = -2 + 3 * T(px) / T(n), cy = T(-1.5) + 3 * T(py) / T(n);
	T x = 0, y = 0, xx = 0, yy = 0;
	int steps = 0;
#pragma unroll 4
	while (steps < limit && xx + yy <= 4) {
		y = (x + x) * y + cy, x = xx - yy + cx;
		xx = x * x, yy = y * y;
		steps++;
	}
	g.counts.p[py * n + px] = steps;
}
KERNEL_OF(256) mandelbrot32_best(const Mandelbrot32Args g) { bestMandelbrot<float>(g); }
KERNEL_OF(256) mandelbrot64_best(const Mandelbrot64Args g) { bestMandelbrot<double>(g); }

// ---- Black-Scholes

struct Market { float rate, volatility; };
struct BlackScholesArgs { Slice<const float> price, strike, years; Slice<float> call, put; Market m; Hidden h; };

__device__ float normal(float d) {
	float k = 1 / (1 + 0.2316419f * fabsf(d));
	float poly = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
	float upper = 0.39894228f * expf(-0.5f * d * d) * poly;
	return d > 0 ? 1 - upper : upper;
}

__device__ float2 prices(float s, float k, float y, Market m) {
	float root = sqrtf(y);
	float d1 = (logf(s / k) + (m.rate + 0.5f * m.volatility * m.volatility) * y) / (m.volatility * root);
	float d2 = d1 - m.volatility * root;
	float n1 = normal(d1), n2 = normal(d2);
	float discounted = k * expf(-m.rate * y);
	return make_float2(s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1));
}

KERNEL blackScholes(const BlackScholesArgs g) {
	int i = globalX();
	if (i >= g.call.len) return;
	float2 p = prices(g.price.p[i], g.strike.p[i], g.years.p[i], g.m);
	g.call.p[i] = p.x;
	g.put.p[i] = p.y;
}

KERNEL_OF(256) blackScholes_best(const BlackScholesArgs g) {
	int i = globalX();
	if (i >= g.call.len / 4) return;
	float4 s = wide(g.price, i), k = wide(g.strike, i), y = wide(g.years, i);
	float2 p0 = prices(s.x, k.x, y.x, g.m), p1 = prices(s.y, k.y, y.y, g.m);
	float2 p2 = prices(s.z, k.z, y.z, g.m), p3 = prices(s.w, k.w, y.w, g.m);
	put(g.call, i, make_float4(p0.x, p1.x, p2.x, p3.x));
	put(g.put, i, make_float4(p0.y, p1.y, p2.y, p3.y));
}

// ---- stencils

struct Weights { float centre, face, edge, corner; };
struct Stencil7Args { Slice<const float> a; Slice<float> b; long long n; Weights w; Hidden h; };
struct Stencil27Args { Slice<const float> a; Slice<float> b; long long n; Weights w; Hidden h; };

KERNEL stencil7(const Stencil7Args g) {
	int n = g.n, x = globalX(), y = globalY(), z = globalZ();
	if (x >= n || y >= n || z >= n) return;
	const float* a = g.a.p;
	int i = (z * n + y) * n + x;
	if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) {
		g.b.p[i] = a[i];
		return;
	}
	g.b.p[i] = g.w.centre * a[i] + g.w.face * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] + a[i + n * n]);
}

__device__ float weight(Weights w, int distance) {
	switch (distance) {
	case 0: return w.centre;
	case 1: return w.face;
	case 2: return w.edge;
	default: return w.corner;
	}
}

KERNEL stencil27(const Stencil27Args g) {
	int n = g.n, x = globalX(), y = globalY(), z = globalZ();
	if (x >= n || y >= n || z >= n) return;
	const float* a = g.a.p;
	int i = (z * n + y) * n + x;
	if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) {
		g.b.p[i] = a[i];
		return;
	}
	float sum = 0;
	for (int dz = -1; dz <= 1; dz++)
		for (int dy = -1; dy <= 1; dy++)
			for (int dx = -1; dx <= 1; dx++)
				sum += weight(g.w, dx * dx + dy * dy + dz * dz) * a[i + (dz * n + dy) * n + dx];
	g.b.p[i] = sum;
}

// around returns the elements i-1 to i+4 of a row, i a multiple of 4; those beside the row are not used.
struct Six { float v[6]; };
__device__ Six around(const float* a, int i, int x, int n) {
	float4 m = __ldg((const float4*)(a + i));
	return Six{x > 0 ? __ldg(a + i - 1) : 0, m.x, m.y, m.z, m.w, x + 4 < n ? __ldg(a + i + 4) : 0};
}

// A thread computes four points of a row.
KERNEL_OF(256) stencil7_best(const Stencil7Args g) {
	int n = g.n, x = globalX() * 4, y = globalY(), z = globalZ();
	if (x >= n || y >= n || z >= n) return;
	const float* a = g.a.p;
	int i = (z * n + y) * n + x;
	Six m = around(a, i, x, n);
	float4 r = make_float4(m.v[1], m.v[2], m.v[3], m.v[4]);
	if (y > 0 && z > 0 && y < n - 1 && z < n - 1) {
		float4 u = __ldg((const float4*)(a + i - n)), d = __ldg((const float4*)(a + i + n));
		float4 f = __ldg((const float4*)(a + i - n * n)), b = __ldg((const float4*)(a + i + n * n));
		if (x > 0) r.x = g.w.centre * m.v[1] + g.w.face * (m.v[0] + m.v[2] + u.x + d.x + f.x + b.x);
		r.y = g.w.centre * m.v[2] + g.w.face * (m.v[1] + m.v[3] + u.y + d.y + f.y + b.y);
		r.z = g.w.centre * m.v[3] + g.w.face * (m.v[2] + m.v[4] + u.z + d.z + f.z + b.z);
		if (x + 4 < n) r.w = g.w.centre * m.v[4] + g.w.face * (m.v[3] + m.v[5] + u.w + d.w + f.w + b.w);
	}
	*(float4*)(g.b.p + i) = r;
}

KERNEL_OF(256) stencil27_best(const Stencil27Args g) {
	int n = g.n, x = globalX() * 4, y = globalY(), z = globalZ();
	if (x >= n || y >= n || z >= n) return;
	const float* a = g.a.p;
	int i = (z * n + y) * n + x;
	float4 same = __ldg((const float4*)(a + i));
	float r[4] = {same.x, same.y, same.z, same.w};
	if (y > 0 && z > 0 && y < n - 1 && z < n - 1) {
		float sum[4] = {0, 0, 0, 0};
#pragma unroll
		for (int dz = -1; dz <= 1; dz++)
#pragma unroll
			for (int dy = -1; dy <= 1; dy++) {
				Six row = around(a, i + (dz * n + dy) * n, x, n);
#pragma unroll
				for (int dx = -1; dx <= 1; dx++)
#pragma unroll
					for (int k = 0; k < 4; k++) sum[k] += weight(g.w, dx * dx + dy * dy + dz * dz) * row.v[1 + k + dx];
			}
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (x + k > 0 && x + k < n - 1) r[k] = sum[k];
	}
	*(float4*)(g.b.p + i) = make_float4(r[0], r[1], r[2], r[3]);
}

// ---- sparse matrix

struct SpmvArgs { Slice<const int> starts, columns; Slice<const float> values, x; Slice<float> y; Hidden h; };

KERNEL spmv(const SpmvArgs g) {
	int row = globalX();
	if (row >= g.y.len) return;
	float sum = 0;
	for (int i = g.starts.p[row]; i < g.starts.p[row + 1]; i++) sum += g.values.p[i] * g.x.p[g.columns.p[i]];
	g.y.p[row] = sum;
}

KERNEL_OF(256) spmv_best(const SpmvArgs g) {
	int row = globalX();
	if (row >= g.y.len) return;
	int i = __ldg(g.starts.p + row), end = __ldg(g.starts.p + row + 1);
	const int* columns = g.columns.p;
	const float *values = g.values.p, *x = g.x.p;
	float sum = 0;
#pragma unroll 4
	for (; i < end; i++) sum += __ldg(values + i) * __ldg(x + __ldg(columns + i));
	g.y.p[row] = sum;
}

// ---- sgemm

struct Sgemm32Args { Slice<const float> a, b; Slice<float> c; long long n; Hidden h; };
struct Sgemm64Args { Slice<const float> a, b; Slice<float> c; long long n; Hidden h; };

KERNEL sgemm32(const Sgemm32Args g) {
	__shared__ float as[tile][tile], bs[tile][tile];
	int n = g.n, x = threadIdx.x, y = threadIdx.y, row = globalY(), col = globalX();
	float sum = 0;
	for (int start = 0; start < n; start += tile) {
		as[y][x] = g.a.p[row * n + start + x];
		bs[y][x] = g.b.p[(start + y) * n + col];
		__syncthreads();
		for (int k = 0; k < tile; k++) sum += as[y][k] * bs[k][x];
		__syncthreads();
	}
	g.c.p[row * n + col] = sum;
}

// A block of 8 x 32 threads computes the same tile, four neighbours a thread.
KERNEL_OF(256) sgemm32_best(const Sgemm32Args g) {
	__shared__ float as[tile][tile], bs[tile][tile];
	int n = g.n, x = threadIdx.x * 4, y = threadIdx.y, row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
	float4 sum = make_float4(0, 0, 0, 0);
	for (int start = 0; start < n; start += tile) {
		*(float4*)&as[y][x] = __ldg((const float4*)(g.a.p + row * n + start + x));
		*(float4*)&bs[y][x] = __ldg((const float4*)(g.b.p + (start + y) * n + col));
		__syncthreads();
#pragma unroll
		for (int k = 0; k < tile; k++) {
			float a = as[y][k];
			float4 b = *(float4*)&bs[k][x];
			sum.x += a * b.x, sum.y += a * b.y, sum.z += a * b.z, sum.w += a * b.w;
		}
		__syncthreads();
	}
	*(float4*)(g.c.p + row * n + col) = sum;
}

const int side = 64, depth = 8, own = 4;

KERNEL sgemm64(const Sgemm64Args g) {
	__shared__ float as[depth][side], bs[depth][side];
	int n = g.n, tx = threadIdx.x, ty = threadIdx.y, me = ty * 16 + tx;
	int top = blockIdx.y * side, left = blockIdx.x * side;
	float sums[own][own] = {};
	for (int start = 0; start < n; start += depth) {
		for (int i = me; i < side * depth; i += 256) {
			as[i % depth][i / depth] = g.a.p[(top + i / depth) * n + start + i % depth];
			bs[i / side][i % side] = g.b.p[(start + i / side) * n + left + i % side];
		}
		__syncthreads();
		for (int k = 0; k < depth; k++) {
			float column[own], row[own];
			for (int i = 0; i < own; i++) {
				column[i] = as[k][ty * own + i];
				row[i] = bs[k][tx * own + i];
			}
			for (int i = 0; i < own; i++)
				for (int j = 0; j < own; j++) sums[i][j] += column[i] * row[j];
		}
		__syncthreads();
	}
	for (int i = 0; i < own; i++)
		for (int j = 0; j < own; j++) g.c.p[(top + ty * own + i) * n + left + tx * own + j] = sums[i][j];
}

// The next tiles are read while the block computes with the present ones.
KERNEL_OF(256) sgemm64_best(const Sgemm64Args g) {
	__shared__ float as[2][depth][side + 4], bs[2][depth][side];
	int n = g.n, tx = threadIdx.x, ty = threadIdx.y, me = ty * 16 + tx;
	int top = blockIdx.y * side, left = blockIdx.x * side;
	int ar = me / 4, ac = me % 4 * 2, br = me / 32, bc = me % 32 * 2;
	const float2* a = (const float2*)(g.a.p + (top + ar) * n + ac);
	const float2* b = (const float2*)(g.b.p + br * n + left + bc);
	float sums[own][own] = {};
	float2 va = __ldg(a), vb = __ldg(b);
	for (int start = 0, buffer = 0; start < n; start += depth, buffer ^= 1) {
		as[buffer][ac][ar] = va.x, as[buffer][ac + 1][ar] = va.y;
		*(float2*)&bs[buffer][br][bc] = vb;
		__syncthreads();
		if (start + depth < n) {
			a += depth / 2, b += depth * n / 2;
			va = __ldg(a), vb = __ldg(b);
		}
#pragma unroll
		for (int k = 0; k < depth; k++) {
			float4 column = *(float4*)&as[buffer][k][ty * own], row = *(float4*)&bs[buffer][k][tx * own];
			float c[own] = {column.x, column.y, column.z, column.w}, r[own] = {row.x, row.y, row.z, row.w};
#pragma unroll
			for (int i = 0; i < own; i++)
#pragma unroll
				for (int j = 0; j < own; j++) sums[i][j] += c[i] * r[j];
		}
	}
#pragma unroll
	for (int i = 0; i < own; i++)
		*(float4*)(g.c.p + (top + ty * own + i) * n + left + tx * own) = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}
