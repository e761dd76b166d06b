// The kernels of backprop.go.

const int backpropHidden = 16;

struct BackpropForwardArgs { Slice<const float> input, weights; Slice<float> partial; Hidden h; };
struct BackpropAdjustArgs { Slice<const float> delta, input; Slice<float> weights, change; Hidden h; };

KERNEL backpropForward(const BackpropForwardArgs g) {
	__shared__ float node[backpropHidden];
	__shared__ float matrix[backpropHidden][backpropHidden];
	int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
	int i = (backpropHidden + 1) * backpropHidden * by + (backpropHidden + 1) * ty + tx + 1 + (backpropHidden + 1);
	if (tx == 0) node[ty] = g.input.p[backpropHidden * by + ty + 1];
	__syncthreads();
	matrix[ty][tx] = g.weights.p[i];
	__syncthreads();
	matrix[ty][tx] *= node[ty];
	__syncthreads();
	for (int step = 2; step <= backpropHidden; step *= 2) {
		if (ty % step == 0) matrix[ty][tx] += matrix[ty + step / 2][tx];
		__syncthreads();
	}
	if (tx == 0) g.partial.p[by * backpropHidden + ty] = matrix[0][ty];
}

KERNEL backpropAdjust(const BackpropAdjustArgs g) {
	const float eta = 0.3f, momentum = 0.3f;
	int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
	int i = (backpropHidden + 1) * backpropHidden * by + (backpropHidden + 1) * ty + tx + 1 + (backpropHidden + 1);
	int y = backpropHidden * by + ty + 1, x = tx + 1;
	float d = eta * g.delta.p[x] * g.input.p[y] + momentum * g.change.p[i];
	g.weights.p[i] += d;
	g.change.p[i] = d;
	__syncthreads();
	if (ty == 0 && by == 0) {
		float d = eta * g.delta.p[x] + momentum * g.change.p[x];
		g.weights.p[x] += d;
		g.change.p[x] = d;
	}
}
