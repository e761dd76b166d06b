package suite

import (
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// spmv stores in y the product of a sparse matrix and x. Row r of the matrix has the values
// from index starts[r] to starts[r+1], in the columns that columns says. A thread takes a row.
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
func newSpMV(b *bench, rows int) work {
	starts := make([]int32, rows+1)
	for i, n := range random(b, rows, func(r *rand.Rand, _ int) int32 { return rowLength/2 + r.Int32N(rowLength+1) }) {
		starts[i+1] = starts[i] + n
	}
	n := int(starts[rows])
	rowOf := make([]int32, n)
	inParallel(rows, func(_, first, end int) {
		for row := first; row < end; row++ {
			for i := starts[row]; i < starts[row+1]; i++ {
				rowOf[i] = int32(row)
			}
		}
	})
	near := random(b, n, func(r *rand.Rand, i int) int32 { return min(max(rowOf[i]+r.Int32N(2048)-1024, 0), int32(rows-1)) })
	columns, values := input(b, near), input(b, random(b, n, signed))
	x, y := input(b, random(b, rows, signed)), result(b, rows, nan[float32]())
	run := launch{"spmv", Spmv, device.Cover(rows, 256), []argument{input(b, starts), columns, values, x, y}}
	return work{
		bytes: float64(8*n + 12*rows),
		flops: float64(2 * n),
		ours:  []launch{run},
		best:  []launch{run.twin("spmv_best", run.grid)},
		check: func() error {
			return compare(comparison{relative: 2e-6, scale: 4}, y.host, func(row int) (sum float64) {
				for i := starts[row]; i < starts[row+1]; i++ {
					sum += float64(values.host[i]) * float64(x.host[columns.host[i]])
				}
				return sum
			})
		},
	}
}
