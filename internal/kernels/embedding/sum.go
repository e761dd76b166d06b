package embedding

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Rows are rows of a table.
type Rows[T dtype.BF16 | dtype.F16] struct {
	Table   device.Slice[T]
	Indices device.Slice[int32]
}

// SumFits reports whether Sum is for a device and rows of a number of columns: for GPUs, and whole vectors of 16 bytes.
func SumFits(s *device.Stream, columns int) bool {
	return row.FormFor(s) == row.Wide && columns > 0 && columns%8 == 0
}

// Sum stores the sums of rows of three tables, as the input layer of an encoder needs them: those of words, positions and types. It adds in
// float32. An index outside its table stands for a row of zeros. All slices begin at multiples of 16 bytes.
func Sum[T dtype.BF16 | dtype.F16](s *device.Stream, columns int, x [3]Rows[T], out device.Slice[T]) error {
	fits := SumFits(s, columns) && row.Fits(columns, x[0].Table, x[1].Table, x[2].Table, out) && out.Len()/max(columns, 1) <= math.MaxInt32
	for _, r := range x {
		fits = fits && r.Indices.Aligned(row.VectorBytes) && r.Table.Len() > 0 && r.Table.Len()%columns == 0 && r.Indices.Len()*columns == out.Len()
	}
	if !fits {
		return fmt.Errorf("%w: %d columns; tables of %d, %d and %d elements, %d, %d and %d indices, Out %d", ErrShape, columns,
			x[0].Table.Len(), x[1].Table.Len(), x[2].Table.Len(), x[0].Indices.Len(), x[1].Indices.Len(), x[2].Indices.Len(), out.Len())
	}
	if out.Len() == 0 {
		return nil
	}
	v, width := device.View[row.Words, T], columns/8
	grid := device.Blocks{X: (out.Len()/8 + threads - 1) / threads}
	launch := sumBF16
	if _, ok := any(out).(device.Slice[dtype.F16]); ok {
		launch = sumF16
	}
	return launch(s, grid, v(x[0].Table), v(x[1].Table), v(x[2].Table), x[0].Indices, x[1].Indices, x[2].Indices, v(out), uint32(width))
}

//gpu:instance sumBF16 = sum[row.BF16]
//gpu:instance sumF16 = sum[row.F16]

// sum stores a vector of eight sums with each thread. Rows are width vectors.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func sum[F row.Vectors[[8]float32]](t gpu.Thread, a, b, c []row.Words, ofA, ofB, ofC []int32, out []row.Words, width uint32) {
	var f F
	i := uint32(t.GlobalX())
	if i >= uint32(len(out)) {
		return
	}
	at, column := i/max(width, 1), i%max(width, 1)
	x, y, z := f.Unpack(wordsOf(a, ofA[at], column, width)), f.Unpack(wordsOf(b, ofB[at], column, width)), f.Unpack(wordsOf(c, ofC[at], column, width))
	for k := range len(x) {
		x[k] += y[k] + z[k]
	}
	out[i] = f.Pack(x)
}

// wordsOf returns a vector of a row, or zeros.
func wordsOf(table []row.Words, index int32, column, width uint32) (w row.Words) {
	if at := uint64(uint32(index))*uint64(width) + uint64(column); index >= 0 && at < uint64(len(table)) {
		w = table[at]
	}
	return w
}
