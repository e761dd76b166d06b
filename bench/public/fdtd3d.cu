// The kernel of fdtd3d.go.

const int volumeX = 32, volumeY = 16, volumeRadius = 4;

struct VolumeWeights { float w[5]; };
struct VolumeShape { long long row, plane, planes; };

struct Fdtd3dArgs { Slice<const float> from; Slice<float> to; VolumeWeights weights; VolumeShape s; Hidden h; };

KERNEL fdtd3d(const Fdtd3dArgs g) {
	__shared__ float tile[volumeY + 2 * volumeRadius][volumeX + 2 * volumeRadius];
	const float* from = g.from.p;
	int row = g.s.row, plane = g.s.plane, planes = g.s.planes, x = threadIdx.x, y = threadIdx.y;
	int tx = x + volumeRadius, ty = y + volumeRadius;
	int in = (globalY() + volumeRadius) * row + globalX() + volumeRadius;
	float before[volumeRadius], after[volumeRadius];
	for (int i = volumeRadius - 2; i >= 0; i--) {
		before[i] = from[in];
		in += plane;
	}
	float current = from[in];
	int out = in;
	in += plane;
	for (int i = 0; i < volumeRadius; i++) {
		after[i] = from[in];
		in += plane;
	}
	for (int z = 0; z < planes; z++) {
		for (int i = volumeRadius - 1; i > 0; i--) before[i] = before[i - 1];
		before[0] = current;
		current = after[0];
		for (int i = 0; i < volumeRadius - 1; i++) after[i] = after[i + 1];
		after[volumeRadius - 1] = from[in];
		in += plane;
		out += plane;
		__syncthreads();
		if (y < volumeRadius) {
			tile[y][tx] = from[out - volumeRadius * row];
			tile[y + volumeY + volumeRadius][tx] = from[out + volumeY * row];
		}
		if (x < volumeRadius) {
			tile[ty][x] = from[out - volumeRadius];
			tile[ty][x + volumeX + volumeRadius] = from[out + volumeX];
		}
		tile[ty][tx] = current;
		__syncthreads();
		float value = g.weights.w[0] * current;
		for (int i = 1; i <= volumeRadius; i++)
			value += g.weights.w[i] * (after[i - 1] + before[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
		g.to.p[out] = value;
	}
}
