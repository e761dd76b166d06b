// The kernel of laplace.go.

const int laplaceSide = 16;

struct LaplaceArgs { Slice<const double> from; Slice<double> to, changes; long long n; Hidden h; };

KERNEL laplace(const LaplaceArgs g) {
	__shared__ double tile[laplaceSide + 2][laplaceSide + 2];
	__shared__ double change[laplaceSide][laplaceSide];
	const double* from = g.from.p;
	int n = g.n, tx = threadIdx.x, ty = threadIdx.y, x = globalX(), y = globalY();
	change[ty][tx] = 0;
	if (x < n && y < n) {
		tile[ty + 1][tx + 1] = from[y * n + x];
		if (tx == 0 && x > 0) tile[ty + 1][0] = from[y * n + x - 1];
		if (tx == laplaceSide - 1 && x < n - 1) tile[ty + 1][laplaceSide + 1] = from[y * n + x + 1];
		if (ty == 0 && y > 0) tile[0][tx + 1] = from[(y - 1) * n + x];
		if (ty == laplaceSide - 1 && y < n - 1) tile[laplaceSide + 1][tx + 1] = from[(y + 1) * n + x];
	}
	__syncthreads();
	if (x >= 1 && x < n - 1 && y >= 1 && y < n - 1) {
		double v = 0.25 * (tile[ty + 1][tx + 2] + tile[ty + 1][tx] + tile[ty][tx + 1] + tile[ty + 2][tx + 1]);
		g.to.p[y * n + x] = v;
		change[ty][tx] = fabs(v - tile[ty + 1][tx + 1]);
	}
	__syncthreads();
	for (int half = laplaceSide / 2; half > 0; half /= 2) {
		if (ty < half) change[ty][tx] = fmax(change[ty][tx], change[ty + half][tx]);
		__syncthreads();
	}
	for (int half = laplaceSide / 2; half > 0; half /= 2) {
		if (tx < half && ty == 0) change[ty][tx] = fmax(change[ty][tx], change[ty][tx + half]);
		__syncthreads();
	}
	if (tx == 0 && ty == 0) g.changes.p[blockIdx.y * gridDim.x + blockIdx.x] = change[0][0];
}
