// The kernels of atax.go.

struct AtaxRowsArgs { Slice<const float> a, x; Slice<float> product; long long n; Hidden h; };
struct AtaxColumnsArgs { Slice<const float> a, product; Slice<float> y; long long n; Hidden h; };

KERNEL ataxRows(const AtaxRowsArgs g) {
	int i = globalX(), n = g.n;
	if (i < n) {
		g.product.p[i] = 0;
		for (int j = 0; j < n; j++) g.product.p[i] += g.a.p[i * n + j] * g.x.p[j];
	}
}

KERNEL ataxColumns(const AtaxColumnsArgs g) {
	int j = globalX(), n = g.n;
	if (j < n) {
		g.y.p[j] = 0;
		for (int i = 0; i < n; i++) g.y.p[j] += g.a.p[i * n + j] * g.product.p[i];
	}
}
