// The kernels of particlefilter.go.

const int particleBlock = 512;

struct Video { long long width, height, frames, frame, points; };

struct ParticleLikelihoodArgs { Slice<double> x, y; Slice<const double> oldX, oldY; Slice<double> weights, partial; Slice<const int> offsets; Slice<int> seeds; Slice<const u8> pixels; Video v; Hidden h; };
struct ParticleSumArgs { Slice<double> partial; Hidden h; };
struct ParticleNormalizeArgs { Slice<double> weights; Slice<const double> partial; Hidden h; };
struct ParticleCumulateArgs { Slice<const double> weights; Slice<double> cumulated, first; Slice<int> seeds; Hidden h; };
struct ParticleResampleArgs { Slice<const double> x, y; Slice<double> newX, newY; Slice<const double> cumulated, first; Hidden h; };

__device__ double uniformOf(int* seed) {
	*seed = (int)(1103515245u * (u32)*seed + 12345u) % 2147483647;
	return fabs(*seed / 2147483647.0);
}

__device__ double normalOf(int* seed) {
	double u = uniformOf(seed), v = uniformOf(seed);
	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

__device__ int nearest(double x) {
	int n = x;
	if (x - n < 0.5) return n;
	return n + 1;
}

KERNEL particleLikelihood(const ParticleLikelihoodArgs g) {
	__shared__ double sums[particleBlock];
	int me = threadIdx.x, i = globalX(), n = g.x.len;
	int width = g.v.width, height = g.v.height, frames = g.v.frames, frame = g.v.frame, points = g.v.points;
	if (i < n) {
		int seed = g.seeds.p[i];
		g.x.p[i] = g.oldX.p[i] + 1 + 5 * normalOf(&seed);
		g.y.p[i] = g.oldY.p[i] - 2 + 2 * normalOf(&seed);
		g.seeds.p[i] = seed;
	}
	sums[me] = 0;
	__syncthreads();
	if (i < n) {
		double likelihood = 0;
		for (int k = 0; k < points; k++) {
			int px = nearest(g.x.p[i]) + g.offsets.p[2 * k + 1], py = nearest(g.y.p[i]) + g.offsets.p[2 * k];
			int at = px * height * frames + py * frames + frame;
			if (at < 0) at = -at;
			if (at >= width * height * frames) at = 0;
			double p = g.pixels.p[at];
			likelihood += ((p - 100) * (p - 100) - (p - 228) * (p - 228)) / 50;
		}
		g.weights.p[i] = exp(likelihood / points) / n;
		sums[me] = g.weights.p[i];
	}
	__syncthreads();
	for (int half = particleBlock / 2; half > 0; half /= 2) {
		if (me < half) sums[me] += sums[me + half];
		__syncthreads();
	}
	if (me == 0) g.partial.p[blockIdx.x] = sums[0];
}

KERNEL particleSum(const ParticleSumArgs g) {
	if (globalX() == 0) {
		double sum = 0;
		int n = g.partial.len;
		for (int i = 0; i < n; i++) sum += g.partial.p[i];
		g.partial.p[0] = sum;
	}
}

KERNEL particleNormalize(const ParticleNormalizeArgs g) {
	__shared__ double total;
	if (threadIdx.x == 0) total = g.partial.p[0];
	__syncthreads();
	int i = globalX();
	if (i < g.weights.len) g.weights.p[i] /= total;
}

KERNEL particleCumulate(const ParticleCumulateArgs g) {
	if (globalX() == 0) {
		int n = g.weights.len;
		g.cumulated.p[0] = g.weights.p[0];
		for (int i = 1; i < n; i++) g.cumulated.p[i] = g.weights.p[i] + g.cumulated.p[i - 1];
		int seed = g.seeds.p[0];
		g.first.p[0] = uniformOf(&seed) / n;
		g.seeds.p[0] = seed;
	}
}

KERNEL particleResample(const ParticleResampleArgs g) {
	int i = globalX(), n = g.x.len;
	if (i >= n) return;
	double position = g.first.p[0] + (double)i / n;
	int found = n - 1;
	for (int k = 0; k < n; k++) {
		if (g.cumulated.p[k] >= position) {
			found = k;
			break;
		}
	}
	g.newX.p[i] = g.x.p[found];
	g.newY.p[i] = g.y.p[found];
}
