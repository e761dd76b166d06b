// The kernel of md.go.

const int ljNeighbours = 128;

struct LjForce { float cutoff2, lj1, lj2; };

struct MdArgs { Slice<const float4> places; Slice<const int> list; Slice<float4> forces; LjForce c; Hidden h; };

KERNEL md(const MdArgs g) {
	int i = globalX(), n = g.places.len;
	if (i >= n) return;
	float4 me = g.places.p[i];
	float fx = 0, fy = 0, fz = 0;
	for (int j = 0; j < ljNeighbours; j++) {
		float4 other = g.places.p[g.list.p[j * n + i]];
		float dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z;
		float r2 = dx * dx + dy * dy + dz * dz;
		if (r2 < g.c.cutoff2) {
			r2 = 1 / r2;
			float r6 = r2 * r2 * r2;
			float force = r2 * r6 * (g.c.lj1 * r6 - g.c.lj2);
			fx += dx * force;
			fy += dy * force;
			fz += dz * force;
		}
	}
	g.forces.p[i] = make_float4(fx, fy, fz, 0);
}
