// The kernels of sad.go.

const int sadSide = 16, sadRange = 16, sadPlaces = (2 * sadRange + 1) * (2 * sadRange + 1);

struct Sad4Args { Slice<const u16> frame, reference; Slice<u16> sums; long long width, height; Hidden h; };
struct Sad8Args { Slice<const u16> sums; Slice<u16> sums8; Hidden h; };
struct Sad16Args { Slice<const u16> sums8; Slice<u16> sums16; Hidden h; };

KERNEL sad4(const Sad4Args g) {
	__shared__ u16 own[sadSide * sadSide];
	int width = g.width, height = g.height, x0 = blockIdx.x * sadSide, y0 = blockIdx.y * sadSide;
	for (int i = threadIdx.x; i < sadSide * sadSide; i += 128) own[i] = g.frame.p[(y0 + i / sadSide) * width + x0 + i % sadSide];
	__syncthreads();
	int first = (blockIdx.y * gridDim.x + blockIdx.x) * 16 * sadPlaces;
	for (int place = threadIdx.x; place < sadPlaces; place += 128) {
		int dx = place % (2 * sadRange + 1) - sadRange, dy = place / (2 * sadRange + 1) - sadRange;
		for (int block = 0; block < 16; block++) {
			int bx = block % 4 * 4, by = block / 4 * 4, sum = 0;
			for (int y = 0; y < 4; y++) {
				int ry = min(max(y0 + by + y + dy, 0), height - 1);
				for (int x = 0; x < 4; x++) {
					int rx = min(max(x0 + bx + x + dx, 0), width - 1);
					int d = (int)own[(by + y) * sadSide + bx + x] - (int)g.reference.p[ry * width + rx];
					sum += max(d, -d);
				}
			}
			g.sums.p[first + block * sadPlaces + place] = sum;
		}
	}
}

KERNEL sad8(const Sad8Args g) {
	const u16* sums = g.sums.p;
	int from = blockIdx.x * 16 * sadPlaces, to = blockIdx.x * 4 * sadPlaces;
	for (int place = threadIdx.x; place < sadPlaces; place += 128) {
		for (int block = 0; block < 4; block++) {
			int at = from + (block / 2 * 8 + block % 2 * 2) * sadPlaces + place;
			g.sums8.p[to + block * sadPlaces + place] = sums[at] + sums[at + sadPlaces] + sums[at + 4 * sadPlaces] + sums[at + 5 * sadPlaces];
		}
	}
}

KERNEL sad16(const Sad16Args g) {
	const u16* sums8 = g.sums8.p;
	int from = blockIdx.x * 4 * sadPlaces, to = blockIdx.x * sadPlaces;
	for (int place = threadIdx.x; place < sadPlaces; place += 128) {
		int at = from + place;
		g.sums16.p[to + place] = sums8[at] + sums8[at + sadPlaces] + sums8[at + 2 * sadPlaces] + sums8[at + 3 * sadPlaces];
	}
}
