// The kernels of fdtd2d.go.

struct FdtdEYArgs { Slice<const float> source; Slice<float> ey; Slice<const float> hz; long long step, n; Hidden h; };
struct FdtdEXArgs { Slice<float> ex; Slice<const float> hz; long long n; Hidden h; };
struct FdtdHZArgs { Slice<const float> ex, ey; Slice<float> hz; long long n; Hidden h; };

KERNEL fdtdEY(const FdtdEYArgs g) {
	int j = globalX(), i = globalY(), n = g.n;
	if (i < n && j < n) {
		if (i == 0) g.ey.p[i * n + j] = g.source.p[g.step];
		else g.ey.p[i * n + j] -= 0.5f * (g.hz.p[i * n + j] - g.hz.p[(i - 1) * n + j]);
	}
}

KERNEL fdtdEX(const FdtdEXArgs g) {
	int j = globalX(), i = globalY(), n = g.n;
	if (i < n && j < n && j > 0) g.ex.p[i * (n + 1) + j] -= 0.5f * (g.hz.p[i * n + j] - g.hz.p[i * n + j - 1]);
}

KERNEL fdtdHZ(const FdtdHZArgs g) {
	int j = globalX(), i = globalY(), n = g.n;
	const float *ex = g.ex.p, *ey = g.ey.p;
	if (i < n && j < n) g.hz.p[i * n + j] -= 0.7f * (ex[i * (n + 1) + j + 1] - ex[i * (n + 1) + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
}
