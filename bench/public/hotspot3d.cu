// The kernel of hotspot3d.go.

struct HotspotWeights { float centre, x, y, z, power, ambient; };

struct Hotspot3DArgs { Slice<const float> power, from; Slice<float> to; long long nx, ny, nz; HotspotWeights w; Hidden h; };

KERNEL hotspot3D(const Hotspot3DArgs g) {
	const float* from = g.from.p;
	const HotspotWeights w = g.w;
	int nx = g.nx, ny = g.ny, nz = g.nz, i = globalX(), j = globalY();
	int c = i + j * nx, layer = nx * ny;
	int west = i > 0 ? c - 1 : c, east = i < nx - 1 ? c + 1 : c;
	int north = j > 0 ? c - nx : c, south = j < ny - 1 ? c + nx : c;
	float below = from[c], here = from[c], above = from[c + layer];
	for (int k = 0; k < nz - 1; k++) {
		g.to.p[c] = w.centre * here + w.x * (from[west] + from[east]) + w.y * (from[north] + from[south]) + w.z * (below + above) +
			w.power * g.power.p[c] + w.z * w.ambient;
		c += layer, west += layer, east += layer, north += layer, south += layer;
		below = here;
		here = above;
		if (k < nz - 2) above = from[c + layer];
	}
	g.to.p[c] = w.centre * here + w.x * (from[west] + from[east]) + w.y * (from[north] + from[south]) + w.z * (below + above) +
		w.power * g.power.p[c] + w.z * w.ambient;
}
