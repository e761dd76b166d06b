// The kernel of cutcp.go.

const int coulombSide = 8, coulombBin = 8, coulombBins = 16, coulombMargin = 3;
const float coulombSpacing = 0.5f, coulombCutoff = 12;

struct CutcpArgs { Slice<const float4> atoms; Slice<const int> offsets; Slice<float> potential; long long cubes; Hidden h; };

KERNEL cutcp(const CutcpArgs g) {
	__shared__ float4 near[coulombBins * coulombBin];
	const float cutoff2 = coulombCutoff * coulombCutoff;
	int cubes = g.cubes, side = cubes + 2 * coulombMargin, n = g.offsets.len;
	int bin = ((blockIdx.z + coulombMargin) * side + blockIdx.y + coulombMargin) * side + blockIdx.x + coulombMargin;
	int me = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
	int x = blockIdx.x * coulombSide + threadIdx.x, y = blockIdx.y * coulombSide + threadIdx.y;
	int z = blockIdx.z * coulombSide + threadIdx.z;
	float px = coulombSpacing * x, py = coulombSpacing * y, pz = coulombSpacing * z;
	float sum[4] = {0, 0, 0, 0};
	for (int first = 0; first < n; first += coulombBins) {
		int k = first + me / coulombBin;
		if (k < n) near[me] = g.atoms.p[(bin + g.offsets.p[k]) * coulombBin + me % coulombBin];
		__syncthreads();
		int count = min(n - first, coulombBins) * coulombBin;
		for (int k = 0; k < count; k++) {
			float4 a = near[k];
			float dx = a.x - px, dy = a.y - py, dz = a.z - pz;
			float plane = dx * dx + dy * dy;
			for (int j = 0; j < 4; j++) {
				float r2 = plane + dz * dz;
				if (r2 < cutoff2) {
					float s = 1 - r2 * (1 / cutoff2);
					sum[j] += a.w * rsqrtf(r2) * s * s;
				}
				dz -= 2 * coulombSpacing;
			}
		}
		__syncthreads();
	}
	int points = cubes * coulombSide;
	for (int j = 0; j < 4; j++) g.potential.p[((z + 2 * j) * points + y) * points + x] = sum[j];
}
