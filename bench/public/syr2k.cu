// The kernel of syr2k.go.

struct Syr2kArgs { Slice<const float> a, b; Slice<float> c; float alpha, beta; long long n; Hidden h; };

KERNEL syr2k(const Syr2kArgs g) {
	int j = globalX(), i = globalY(), n = g.n;
	const float *a = g.a.p, *b = g.b.p;
	float* c = g.c.p;
	if (i < n && j < n) {
		c[i * n + j] *= g.beta;
		for (int k = 0; k < n; k++) c[i * n + j] += g.alpha * a[i * n + k] * b[j * n + k] + g.alpha * b[i * n + k] * a[j * n + k];
	}
}
