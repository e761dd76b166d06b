// The kernels of mriq.go.

const int mriChunk = 1024;

struct MriSample { float kx, ky, kz, magnitude; };

struct MriMagnitudeArgs { Slice<const float> re, im; Slice<MriSample> samples; Hidden h; };
struct MriQArgs { Slice<const MriSample> samples; Slice<const float> x, y, z; Slice<float> qr, qi; long long start; Hidden h; };

KERNEL mriMagnitude(const MriMagnitudeArgs g) {
	int i = globalX();
	if (i < g.samples.len) g.samples.p[i].magnitude = g.re.p[i] * g.re.p[i] + g.im.p[i] * g.im.p[i];
}

KERNEL mriQ(const MriQArgs g) {
	const float pi = 3.14159265358979f;
	int i = globalX(), start = g.start;
	if (i >= g.qr.len) return;
	float px = g.x.p[i], py = g.y.p[i], pz = g.z.p[i], sumR = g.qr.p[i], sumI = g.qi.p[i];
	for (int k = start; k < start + mriChunk; k++) {
		MriSample s = g.samples.p[k];
		float sin, cos;
		sincosf(2 * pi * (s.kx * px + s.ky * py + s.kz * pz), &sin, &cos);
		sumR += s.magnitude * cos;
		sumI += s.magnitude * sin;
	}
	g.qr.p[i] = sumR;
	g.qi.p[i] = sumI;
}
