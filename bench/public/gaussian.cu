// The kernels of gaussian.go.

struct GaussianColumnArgs { Slice<float> m; Slice<const float> a; long long n, k; Hidden h; };
struct GaussianRowsArgs { Slice<const float> m; Slice<float> a, b; long long n, k; Hidden h; };

KERNEL gaussianColumn(const GaussianColumnArgs g) {
	int i = globalX(), n = g.n, k = g.k;
	if (i >= n - 1 - k) return;
	g.m.p[n * (i + k + 1) + k] = g.a.p[n * (i + k + 1) + k] / g.a.p[n * k + k];
}

KERNEL gaussianRows(const GaussianRowsArgs g) {
	int x = globalX(), y = globalY(), n = g.n, k = g.k;
	if (x >= n - 1 - k || y >= n - k) return;
	g.a.p[n * (x + 1 + k) + y + k] -= g.m.p[n * (x + 1 + k) + k] * g.a.p[n * k + y + k];
	if (y == 0) g.b.p[x + 1 + k] -= g.m.p[n * (x + 1 + k) + k] * g.b.p[k];
}
