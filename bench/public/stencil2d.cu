// The kernel of stencil2d.go.

const int nineRows = 8, nineColumns = 256;

struct NineWeights { float center, cardinal, diagonal; };

struct Stencil2dArgs { Slice<const float> from; Slice<float> to; long long pitch; NineWeights w; Hidden h; };

KERNEL stencil2d(const Stencil2dArgs g) {
	__shared__ float tile[nineRows + 2][nineColumns + 2];
	const float* from = g.from.p;
	int pitch = g.pitch, x = threadIdx.x, row = blockIdx.y * nineRows, column = blockIdx.x * nineColumns;
	for (int y = 0; y < nineRows + 2; y++) tile[y][x + 1] = from[(row + y) * pitch + column + x + 1];
	if (x == 0)
		for (int y = 0; y < nineRows + 2; y++) tile[y][0] = from[(row + y) * pitch + column];
	if (x == nineColumns - 1)
		for (int y = 0; y < nineRows + 2; y++) tile[y][nineColumns + 1] = from[(row + y) * pitch + column + nineColumns + 1];
	__syncthreads();
	for (int y = 0; y < nineRows; y++) {
		float center = tile[y + 1][x + 1];
		float cardinal = tile[y][x + 1] + tile[y + 2][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2];
		float diagonal = tile[y][x] + tile[y][x + 2] + tile[y + 2][x] + tile[y + 2][x + 2];
		g.to.p[(row + y + 1) * pitch + column + x + 1] = g.w.center * center + g.w.cardinal * cardinal + g.w.diagonal * diagonal;
	}
}
