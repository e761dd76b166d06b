// The kernel of dct8x8.go.

const int dctSide = 8;

__constant__ float dctMatrix[dctSide * dctSide] = {
	0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f,
	0.49039264f, 0.415734806f, 0.277785117f, 0.097545161f, -0.097545161f, -0.277785117f, -0.415734806f, -0.49039264f,
	0.461939766f, 0.191341716f, -0.191341716f, -0.461939766f, -0.461939766f, -0.191341716f, 0.191341716f, 0.461939766f,
	0.415734806f, -0.097545161f, -0.49039264f, -0.277785117f, 0.277785117f, 0.49039264f, 0.097545161f, -0.415734806f,
	0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f, 0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f,
	0.277785117f, -0.49039264f, 0.097545161f, 0.415734806f, -0.415734806f, -0.097545161f, 0.49039264f, -0.277785117f,
	0.191341716f, -0.461939766f, 0.461939766f, -0.191341716f, -0.191341716f, 0.461939766f, -0.461939766f, 0.191341716f,
	0.097545161f, -0.277785117f, 0.415734806f, -0.49039264f, 0.49039264f, -0.415734806f, 0.277785117f, -0.097545161f,
};

struct Dct8x8Args { Slice<const float> image; Slice<float> frequencies; long long width; Hidden h; };

KERNEL dct8x8(const Dct8x8Args g) {
	__shared__ float pixels[dctSide * dctSide], half[dctSide * dctSide];
	int width = g.width, x = threadIdx.x, y = threadIdx.y;
	int at = (blockIdx.y * dctSide + y) * width + blockIdx.x * dctSide + x;
	pixels[y * dctSide + x] = g.image.p[at];
	__syncthreads();
	float sum = 0;
	for (int i = 0; i < dctSide; i++) sum += dctMatrix[y * dctSide + i] * pixels[i * dctSide + x];
	half[y * dctSide + x] = sum;
	__syncthreads();
	sum = 0;
	for (int i = 0; i < dctSide; i++) sum += half[y * dctSide + i] * dctMatrix[x * dctSide + i];
	g.frequencies.p[at] = sum;
}
