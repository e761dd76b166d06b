// The kernel of lavamd.go.

const int lavaParticles = 100, lavaThreads = 128;

struct LavaPoint { double v, x, y, z; };
struct LavaNeighbour { int x, y, z, number; long long offset; };
struct LavaBox { int x, y, z, number; long long offset; int count; LavaNeighbour neighbours[26]; };

struct LavaMDArgs { Slice<const LavaBox> boxes; Slice<const LavaPoint> places; Slice<const double> charges; Slice<LavaPoint> forces; double alpha; Hidden h; };

KERNEL lavaMD(const LavaMDArgs g) {
	__shared__ LavaPoint own[lavaParticles], other[lavaParticles];
	__shared__ double charge[lavaParticles];
	const LavaBox* box = g.boxes.p + blockIdx.x;
	double a2 = 2 * g.alpha * g.alpha;
	int first = box->offset;
	for (int i = threadIdx.x; i < lavaParticles; i += lavaThreads) own[i] = g.places.p[first + i];
	__syncthreads();
	for (int k = 0; k < 1 + box->count; k++) {
		int from = first;
		if (k > 0) from = box->neighbours[k - 1].offset;
		for (int i = threadIdx.x; i < lavaParticles; i += lavaThreads) {
			other[i] = g.places.p[from + i];
			charge[i] = g.charges.p[from + i];
		}
		__syncthreads();
		for (int i = threadIdx.x; i < lavaParticles; i += lavaThreads) {
			for (int j = 0; j < lavaParticles; j++) {
				double r2 = own[i].v + other[j].v - (own[i].x * other[j].x + own[i].y * other[j].y + own[i].z * other[j].z);
				double vij = exp(-a2 * r2);
				double fs = 2 * vij;
				double dx = own[i].x - other[j].x, dy = own[i].y - other[j].y, dz = own[i].z - other[j].z;
				LavaPoint* f = g.forces.p + first + i;
				f->v += charge[j] * vij;
				f->x += charge[j] * (fs * dx);
				f->y += charge[j] * (fs * dy);
				f->z += charge[j] * (fs * dz);
			}
		}
		__syncthreads();
	}
}
