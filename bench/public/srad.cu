// The kernels of srad.go.

const int sradTile = 16;

struct Srad1Args { Slice<const float> image; Slice<float> c, north, south, west, east; long long cols, rows; float q0; Hidden h; };
struct Srad2Args { Slice<float> image; Slice<const float> c, north, south, west, east; long long cols, rows; float lambda; Hidden h; };

KERNEL srad1(const Srad1Args g) {
	__shared__ float tile[sradTile][sradTile], above[sradTile][sradTile], below[sradTile][sradTile];
	__shared__ float left[sradTile][sradTile], right[sradTile][sradTile];
	const float* image = g.image.p;
	int cols = g.cols, rows = g.rows, tx = threadIdx.x, ty = threadIdx.y;
	int x = blockIdx.x * sradTile + tx, y = blockIdx.y * sradTile + ty, i = y * cols + x;
	above[ty][tx] = image[max((int)blockIdx.y * sradTile - 1, 0) * cols + x];
	below[ty][tx] = image[min((int)blockIdx.y * sradTile + sradTile, rows - 1) * cols + x];
	left[ty][tx] = image[y * cols + max((int)blockIdx.x * sradTile - 1, 0)];
	right[ty][tx] = image[y * cols + min((int)blockIdx.x * sradTile + sradTile, cols - 1)];
	tile[ty][tx] = image[i];
	__syncthreads();
	float here = tile[ty][tx], n, s, w, e;
	if (ty == 0) n = above[ty][tx] - here;
	else n = tile[ty - 1][tx] - here;
	if (ty == sradTile - 1) s = below[ty][tx] - here;
	else s = tile[ty + 1][tx] - here;
	if (tx == 0) w = left[ty][tx] - here;
	else w = tile[ty][tx - 1] - here;
	if (tx == sradTile - 1) e = right[ty][tx] - here;
	else e = tile[ty][tx + 1] - here;
	float gr = (n * n + s * s + w * w + e * e) / (here * here);
	float l = (n + s + w + e) / here;
	float num = 0.5f * gr - 0.0625f * (l * l);
	float den = 1 + 0.25f * l;
	float q = num / (den * den);
	float v = 1 / (1 + (q - g.q0) / (g.q0 * (1 + g.q0)));
	if (v < 0) v = 0;
	else if (v > 1) v = 1;
	g.c.p[i] = v;
	g.north.p[i] = n;
	g.south.p[i] = s;
	g.west.p[i] = w;
	g.east.p[i] = e;
}

KERNEL srad2(const Srad2Args g) {
	__shared__ float tile[sradTile][sradTile], below[sradTile][sradTile], right[sradTile][sradTile];
	const float* c = g.c.p;
	int cols = g.cols, rows = g.rows, tx = threadIdx.x, ty = threadIdx.y;
	int x = blockIdx.x * sradTile + tx, y = blockIdx.y * sradTile + ty, i = y * cols + x;
	below[ty][tx] = c[min((int)blockIdx.y * sradTile + sradTile, rows - 1) * cols + x];
	right[ty][tx] = c[y * cols + min((int)blockIdx.x * sradTile + sradTile, cols - 1)];
	tile[ty][tx] = c[i];
	__syncthreads();
	float here = tile[ty][tx], s, e;
	if (ty == sradTile - 1) s = below[ty][tx];
	else s = tile[ty + 1][tx];
	if (tx == sradTile - 1) e = right[ty][tx];
	else e = tile[ty][tx + 1];
	float d = here * g.north.p[i] + s * g.south.p[i] + here * g.west.p[i] + e * g.east.p[i];
	g.image.p[i] += 0.25f * g.lambda * d;
}
