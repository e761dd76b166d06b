// The kernel of dwt2d.go.

const int waveletTile = 32, waveletSide = waveletTile + 3;

struct Dwt2dArgs { Slice<const int> image; Slice<int> bands; long long n; Hidden h; };

__device__ int mirrored(int i, int n) {
	if (i < 0) return -i;
	if (i >= n) return 2 * n - 2 - i;
	return i;
}

KERNEL dwt2d(const Dwt2dArgs g) {
	__shared__ int tile[waveletSide][waveletSide];
	int n = g.n, x0 = blockIdx.x * waveletTile - 2, y0 = blockIdx.y * waveletTile - 2, tx = threadIdx.x, ty = threadIdx.y;
	for (int y = ty; y < waveletSide; y += 8)
		for (int x = tx; x < waveletSide; x += 32) tile[y][x] = g.image.p[mirrored(y0 + y, n) * n + mirrored(x0 + x, n)];
	__syncthreads();
	for (int y = ty; y < waveletSide; y += 8)
		for (int x = 2 * tx + 1; x < waveletSide - 1; x += 64) tile[y][x] -= (tile[y][x - 1] + tile[y][x + 1]) >> 1;
	__syncthreads();
	for (int y = ty; y < waveletSide; y += 8)
		for (int x = 2 * tx + 2; x < waveletSide - 1; x += 64) tile[y][x] += (tile[y][x - 1] + tile[y][x + 1] + 2) >> 2;
	__syncthreads();
	for (int y = 2 * ty + 1; y < waveletSide - 1; y += 16)
		for (int x = tx; x < waveletSide; x += 32) tile[y][x] -= (tile[y - 1][x] + tile[y + 1][x]) >> 1;
	__syncthreads();
	for (int y = 2 * ty + 2; y < waveletSide - 1; y += 16)
		for (int x = tx; x < waveletSide; x += 32) tile[y][x] += (tile[y - 1][x] + tile[y + 1][x] + 2) >> 2;
	__syncthreads();
	for (int y = ty; y < waveletTile; y += 8) {
		int toX = (x0 + 2 + tx) / 2, toY = (y0 + 2 + y) / 2;
		if (tx % 2 == 1) toX += n / 2;
		if (y % 2 == 1) toY += n / 2;
		g.bands.p[toY * n + toX] = tile[y + 2][tx + 2];
	}
}
