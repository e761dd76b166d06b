// The kernels of bicg.go.

struct BicgColumnsArgs { Slice<const float> a, r; Slice<float> s; long long n; Hidden h; };
struct BicgRowsArgs { Slice<const float> a, p; Slice<float> q; long long n; Hidden h; };

KERNEL bicgColumns(const BicgColumnsArgs g) {
	int j = globalX(), n = g.n;
	if (j < n) {
		g.s.p[j] = 0;
		for (int i = 0; i < n; i++) g.s.p[j] += g.a.p[i * n + j] * g.r.p[i];
	}
}

KERNEL bicgRows(const BicgRowsArgs g) {
	int i = globalX(), n = g.n;
	if (i < n) {
		g.q.p[i] = 0;
		for (int j = 0; j < n; j++) g.q.p[i] += g.a.p[i * n + j] * g.p.p[j];
	}
}
