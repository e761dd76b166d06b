package suite

import (
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// spmv stores in y the product of a sparse matrix and x. Row r of the matrix has the values
// from index starts[r] to starts[r+1], in the columns that columns lists. A thread computes a row.
//
//gpu:kernel
func spmv(t gpu.Thread, starts, columns []int32, values, x, y []float32) {
	row := t.GlobalX()
	if row >= len(y) {
		return
	}
	var sum float32
	for i := starts[row]; i < starts[row+1]; i++ {
		sum += values[i] * x[columns[i]]
	}
	y[row] = sum
}

// rowLength is the number of values in a row of the sparse matrix, on average.
const rowLength = 16

// newSpMV prepares a square matrix with rows of 8 to 24 values in random columns near the
// diagonal.
func newSpMV(b *harness.Bench, rows int) harness.Work {
	starts := make([]int32, rows+1)
	for i, n := range harness.Random(b, rows, func(r *rand.Rand, _ int) int32 { return rowLength/2 + r.Int32N(rowLength+1) }) {
		starts[i+1] = starts[i] + n
	}
	n := int(starts[rows])
	rowOf := make([]int32, n)
	harness.InParallel(rows, func(_, first, end int) {
		for row := first; row < end; row++ {
			for i := starts[row]; i < starts[row+1]; i++ {
				rowOf[i] = int32(row)
			}
		}
	})
	near := harness.Random(b, n, func(r *rand.Rand, i int) int32 { return min(max(rowOf[i]+r.Int32N(2048)-1024, 0), int32(rows-1)) })
	columns, values := harness.Input(b, near), harness.Input(b, harness.Random(b, n, harness.Signed))
	x, y := harness.Input(b, harness.Random(b, rows, harness.Signed)), harness.Result(b, rows, harness.NaN[float32]())
	run := harness.Of("spmv", Spmv, device.Cover(rows, 256), harness.Input(b, starts), columns, values, x, y)
	return harness.Work{
		Bytes: float64(8*n + 12*rows),
		Flops: float64(2 * n),
		Ours:  []harness.Launch{run},
		Best:  []harness.Launch{run.Best(run.Grid)},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 2e-6, Scale: 4}, y.Host, func(row int) (sum float64) {
				for i := starts[row]; i < starts[row+1]; i++ {
					sum += float64(values.Host[i]) * float64(x.Host[columns.Host[i]])
				}
				return sum
			})
		},
	}
}
