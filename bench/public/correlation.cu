// The kernels of correlation.go.

const float correlationLeast = 0.005f;

struct CorrelationMeanArgs { Slice<const float> data; Slice<float> mean; long long n; Hidden h; };
struct CorrelationDeviationArgs { Slice<const float> data, mean; Slice<float> deviation; long long n; Hidden h; };
struct CorrelationReduceArgs { Slice<float> data; Slice<const float> mean, deviation; long long n; Hidden h; };
struct CorrelationProductsArgs { Slice<const float> data; Slice<float> result; long long n; Hidden h; };

KERNEL correlationMean(const CorrelationMeanArgs g) {
	int j = globalX(), n = g.n;
	float* mean = g.mean.p;
	if (j < n) {
		mean[j] = 0;
		for (int i = 0; i < n; i++) mean[j] += g.data.p[i * n + j];
		mean[j] /= (float)n;
	}
}

KERNEL correlationDeviation(const CorrelationDeviationArgs g) {
	int j = globalX(), n = g.n;
	const float *data = g.data.p, *mean = g.mean.p;
	float* deviation = g.deviation.p;
	if (j < n) {
		deviation[j] = 0;
		for (int i = 0; i < n; i++) deviation[j] += (data[i * n + j] - mean[j]) * (data[i * n + j] - mean[j]);
		deviation[j] /= (float)n;
		deviation[j] = sqrtf(deviation[j]);
		if (deviation[j] <= correlationLeast) deviation[j] = 1;
	}
}

KERNEL correlationReduce(const CorrelationReduceArgs g) {
	int j = globalX(), i = globalY(), n = g.n;
	if (i < n && j < n) {
		g.data.p[i * n + j] -= g.mean.p[j];
		g.data.p[i * n + j] /= sqrtf((float)n) * g.deviation.p[j];
	}
}

KERNEL correlationProducts(const CorrelationProductsArgs g) {
	int a = globalX(), n = g.n;
	const float* data = g.data.p;
	float* result = g.result.p;
	if (a < n - 1) {
		result[a * n + a] = 1;
		for (int b = a + 1; b < n; b++) {
			result[a * n + b] = 0;
			for (int i = 0; i < n; i++) result[a * n + b] += data[i * n + a] * data[i * n + b];
			result[b * n + a] = result[a * n + b];
		}
	}
}
