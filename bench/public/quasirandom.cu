// The kernels of quasirandom.go.

const int quasiBits = 31;
const float quasiScale = 1.0f / 0x80000001u;

struct QuasirandomArgs { Slice<const u32> directions; Slice<float> points; u32 seed; long long n; Hidden h; };
struct QuasiNormalArgs { Slice<float> quantiles; long long n; Hidden h; };

KERNEL quasirandom(const QuasirandomArgs g) {
	int n = g.n;
	for (int i = globalX(); i < n; i += blockDim.x * gridDim.x) {
		u32 result = 0, data = g.seed + i;
		for (int bit = 0; bit < quasiBits; bit++) {
			if (data & 1) result ^= g.directions.p[bit + threadIdx.y * quasiBits];
			data >>= 1;
		}
		g.points.p[threadIdx.y * n + i] = (float)(result + 1) * quasiScale;
	}
}

__device__ float moro(u32 x) {
	bool negate = false;
	if (x >= 0x80000000u) {
		x = 0xffffffffu - x;
		negate = true;
	}
	float p = x * (1.0f / 4294967296.0f) + 0.5f / 4294967296.0f, y = p - 0.5f, z;
	if (p > 0.08f) {
		z = y * y;
		z = y * (((-25.44106049637f * z + 41.39119773534f) * z - 18.61500062529f) * z + 2.50662823884f) /
			((((3.13082909833f * z - 21.06224101826f) * z + 23.08336743743f) * z - 8.4735109309f) * z + 1);
	} else {
		z = logf(-logf(p));
		z = -(0.337475482272615f + z * (0.976169019091719f + z * (0.160797971491821f + z * (2.76438810333863e-2f + z * (3.8405729373609e-3f +
			z * (3.951896511919e-4f + z * (3.21767881768e-5f + z * (2.888167364e-7f + z * 3.960315187e-7f))))))));
	}
	return negate ? -z : z;
}

KERNEL quasiNormal(const QuasiNormalArgs g) {
	int n = g.n;
	u32 distance = 0xffffffffu / (u32)(n + 1);
	for (int i = globalX(); i < n; i += blockDim.x * gridDim.x) g.quantiles.p[i] = moro((u32)(i + 1) * distance);
}
