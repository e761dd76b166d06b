package public

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// correlationLeast is the deviation below which a column counts as constant.
const correlationLeast = 0.005

// correlationMean stores the mean of each column of an n x n matrix. Each thread computes one mean, in blocks of 256. It is
// the first kernel of PolyBench-GPU's correlation.
//
//gpu:kernel
//gpu:block 256
func correlationMean(t gpu.Thread, data, mean []float32, n int) {
	j := t.GlobalX()
	if j < n {
		mean[j] = 0
		for i := range n {
			mean[j] += data[i*n+j]
		}
		mean[j] /= float32(n)
	}
}

// correlationDeviation stores the standard deviation of each column.
//
//gpu:kernel
//gpu:block 256
func correlationDeviation(t gpu.Thread, data, mean, deviation []float32, n int) {
	j := t.GlobalX()
	if j < n {
		deviation[j] = 0
		for i := range n {
			deviation[j] += (data[i*n+j] - mean[j]) * (data[i*n+j] - mean[j])
		}
		deviation[j] /= float32(n)
		deviation[j] = math32.Sqrt(deviation[j])
		if deviation[j] <= correlationLeast {
			deviation[j] = 1
		}
	}
}

// correlationReduce subtracts the mean from each column and scales the column. Each thread computes one element, in blocks
// of 32 x 8.
//
//gpu:kernel
//gpu:block 32,8
func correlationReduce(t gpu.Thread, data, mean, deviation []float32, n int) {
	j, i := t.GlobalX(), t.GlobalY()
	if i < n && j < n {
		data[i*n+j] -= mean[j]
		data[i*n+j] /= math32.Sqrt(float32(n)) * deviation[j]
	}
}

// correlationProducts stores the correlations of each column with all later columns. Each thread computes one column, in
// blocks of 256.
//
//gpu:kernel
//gpu:block 256
func correlationProducts(t gpu.Thread, data, result []float32, n int) {
	a := t.GlobalX()
	if a < n-1 {
		result[a*n+a] = 1
		for b := a + 1; b < n; b++ {
			result[a*n+b] = 0
			for i := range n {
				result[a*n+b] += data[i*n+a] * data[i*n+b]
			}
			result[b*n+a] = result[a*n+b]
		}
	}
}

// newCorrelation prepares an n x n matrix.
func newCorrelation(b *harness.Bench, n int) harness.Work {
	first := harness.Input(b, harness.Random(b, n*n, harness.Uniform[float32]))
	data, mean, deviation := harness.Scratch[float32](b, n*n), harness.Scratch[float32](b, n), harness.Scratch[float32](b, n)
	result := harness.Result(b, n*n, harness.NaN[float32]())
	g, size := device.Cover(n, 256), harness.ByValue(n)
	return harness.Work{
		Ours: []harness.Launch{
			harness.Of("correlationMean", CorrelationMean, g, data, mean, size),
			harness.Of("correlationDeviation", CorrelationDeviation, g, data, mean, deviation, size),
			harness.Of("correlationReduce", CorrelationReduce, plane(n, n, device.Dim{X: 32, Y: 8}), data, mean, deviation, size),
			harness.Of("correlationProducts", CorrelationProducts, g, data, result, size),
		},
		Restore: restore(data, first),
		Check: func() error {
			return harness.Examine(n*n-1, 1<<12, func(i int) error { // no thread writes the last element
				want, got := correlated(first.Host, n, i/n, i%n), float64(result.Host[i])
				if !(math.Abs(got-want) <= 1e-5) {
					return fmt.Errorf("correlation of columns %d and %d is %v, want %v", i/n, i%n, got, want)
				}
				return nil
			})
		},
	}
}

// correlated returns the correlation of two columns, in float64.
func correlated(data []float32, n, a, b int) float64 {
	var sumA, sumB, squaresA, squaresB, products float64
	for i := range n {
		x, y := float64(data[i*n+a]), float64(data[i*n+b])
		sumA, sumB = sumA+x, sumB+y
		squaresA, squaresB, products = squaresA+x*x, squaresB+y*y, products+x*y
	}
	count := float64(n)
	return (products - sumA*sumB/count) / math.Sqrt((squaresA-sumA*sumA/count)*(squaresB-sumB*sumB/count))
}
