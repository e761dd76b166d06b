// The kernel of streamcluster.go.

struct PgainShape { long long points, dims, centers; };

struct PgainArgs { Slice<const float> coords, weights, costs; Slice<const int> assigned, table; Slice<int> switched; Slice<float> work; PgainShape s; long long x; Hidden h; };

KERNEL pgain(const PgainArgs g) {
	extern __shared__ float candidate[];
	const float *coords = g.coords.p, *costs = g.costs.p;
	int points = g.s.points, dims = g.s.dims, centers = g.s.centers, x = g.x;
	if (threadIdx.x == 0)
		for (int d = 0; d < dims; d++) candidate[d] = coords[d * points + x];
	__syncthreads();
	int i = globalX();
	if (i >= points) return;
	float* lower = g.work.p + i * (centers + 1);
	float distance = 0;
	for (int d = 0; d < dims; d++) {
		float difference = coords[d * points + i] - candidate[d];
		distance += difference * difference;
	}
	float cost = distance * g.weights.p[i];
	if (cost < costs[i]) {
		g.switched.p[i] = 1;
		lower[centers] += cost - costs[i];
	} else {
		lower[g.table.p[g.assigned.p[i]]] += costs[i] - cost;
	}
}
