// The kernel of fft.go.

const int fftPoints = 512, fftThreads = 64;

struct Fft512Args { Slice<float2> data; Hidden h; };

__device__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__device__ void fft4(float2* a, float2* b, float2* c, float2* d) {
	float2 s02 = plus(*a, *c), d02 = minus(*a, *c), s13 = plus(*b, *d), d13 = minus(*b, *d);
	float2 turned = make_float2(d13.y, -d13.x);
	*a = plus(s02, s13), *b = plus(d02, turned), *c = minus(s02, s13), *d = minus(d02, turned);
}

__device__ void fft8(float2* v) {
	const float half = 0.70710678f;
	float2 even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
	fft4(even, even + 1, even + 2, even + 3);
	fft4(odd, odd + 1, odd + 2, odd + 3);
	odd[1] = times(odd[1], make_float2(half, -half));
	odd[2] = make_float2(odd[2].y, -odd[2].x);
	odd[3] = times(odd[3], make_float2(-half, -half));
	for (int k = 0; k < 4; k++) v[k] = plus(even[k], odd[k]), v[k + 4] = minus(even[k], odd[k]);
}

__device__ void fftTwist(float2* v, float angle) {
	for (int k = 1; k < 8; k++) {
		float sin, cos;
		sincosf(angle * k, &sin, &cos);
		v[k] = times(v[k], make_float2(cos, sin));
	}
}

__device__ int fftPadded(int i) { return i + i / 32; }

__device__ void fftExchange(float* shared, float2* v, int to, int stride) {
	int me = threadIdx.x;
	for (int k = 0; k < 8; k++) shared[fftPadded(to + k * stride)] = v[k].x;
	__syncthreads();
	for (int k = 0; k < 8; k++) v[k].x = shared[fftPadded(me + k * fftThreads)];
	__syncthreads();
	for (int k = 0; k < 8; k++) shared[fftPadded(to + k * stride)] = v[k].y;
	__syncthreads();
	for (int k = 0; k < 8; k++) v[k].y = shared[fftPadded(me + k * fftThreads)];
	__syncthreads();
}

KERNEL fft512(const Fft512Args g) {
	__shared__ float shared[fftPoints + fftPoints / 32];
	const float pi = 3.14159265358979f;
	int me = threadIdx.x, first = blockIdx.x * fftPoints + me;
	float2 v[8];
	for (int k = 0; k < 8; k++) v[k] = g.data.p[first + k * fftThreads];
	fft8(v);
	fftExchange(shared, v, me * 8, 1);
	fftTwist(v, -2 * pi / 64 * (me % 8));
	fft8(v);
	fftExchange(shared, v, me / 8 * 64 + me % 8, 8);
	fftTwist(v, -2 * pi / 512 * me);
	fft8(v);
	for (int k = 0; k < 8; k++) g.data.p[first + k * fftThreads] = v[k];
}
