// The kernels of gramschmidt.go.

struct GramschmidtNormArgs { Slice<const float> a; Slice<float> r; long long k, n; Hidden h; };
struct GramschmidtScaleArgs { Slice<const float> a, r; Slice<float> q; long long k, n; Hidden h; };
struct GramschmidtProjectArgs { Slice<float> a, r; Slice<const float> q; long long k, n; Hidden h; };

KERNEL gramschmidtNorm(const GramschmidtNormArgs g) {
	int k = g.k, n = g.n;
	if (globalX() == 0) {
		float norm = 0;
		for (int i = 0; i < n; i++) norm += g.a.p[i * n + k] * g.a.p[i * n + k];
		g.r.p[k * n + k] = sqrtf(norm);
	}
}

KERNEL gramschmidtScale(const GramschmidtScaleArgs g) {
	int i = globalX(), k = g.k, n = g.n;
	if (i < n) g.q.p[i * n + k] = g.a.p[i * n + k] / g.r.p[k * n + k];
}

KERNEL gramschmidtProject(const GramschmidtProjectArgs g) {
	int j = globalX(), k = g.k, n = g.n;
	float *a = g.a.p, *r = g.r.p;
	const float* q = g.q.p;
	if (j > k && j < n) {
		r[k * n + j] = 0;
		for (int i = 0; i < n; i++) r[k * n + j] += q[i * n + k] * a[i * n + j];
		for (int i = 0; i < n; i++) a[i * n + j] -= q[i * n + k] * r[k * n + j];
	}
}
