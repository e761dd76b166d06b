// The kernel of nn.go.

struct Place { float latitude, longitude; };

struct NnArgs { Slice<const Place> places; Slice<float> distances; Place from; Hidden h; };

KERNEL nn(const NnArgs g) {
	int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
	if (i < g.places.len) {
		Place p = g.places.p[i];
		g.distances.p[i] = sqrtf((g.from.latitude - p.latitude) * (g.from.latitude - p.latitude) +
			(g.from.longitude - p.longitude) * (g.from.longitude - p.longitude));
	}
}
