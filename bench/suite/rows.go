package suite

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// softmax stores the softmax of each row of x in y. Rows have cols elements. A block computes a
// row: it finds the maximum m, sums exp(x-m), and divides by the sum. The exponential is
// accurate, like expf in the twins.
//
//gpu:kernel
//gpu:block 256
func softmax(t gpu.Thread, x, y []float32, cols int) {
	part := gpu.Shared[[width]float32](t)
	me, start := t.ThreadX(), t.BlockX()*cols
	largest := float32(math.Inf(-1))
	for i := me; i < cols; i += width {
		largest = max(largest, x[start+i])
	}
	largest = blockMax32(t, part, largest)
	t.Sync()
	var sum float32
	for i := me; i < cols; i += width {
		sum += math32.Exp(x[start+i] - largest)
	}
	sum = blockSum32(t, part, sum)
	for i := me; i < cols; i += width {
		y[start+i] = math32.Exp(x[start+i]-largest) / sum
	}
}

// blockMax32 returns the largest of the block's v to every thread: a tree in shared memory.
func blockMax32(t gpu.Thread, part *[width]float32, v float32) float32 {
	me := t.ThreadX()
	part[me] = v
	t.Sync()
	for half := width / 2; half > 0; half /= 2 {
		if me < half {
			part[me] = max(part[me], part[me+half])
		}
		t.Sync()
	}
	return part[0]
}

// layerNorm normalizes rows of cols elements: it stores (x-mean)/deviation*scale + shift in y. A
// block computes a row.
//
//gpu:kernel
//gpu:block 256
func layerNorm(t gpu.Thread, x, scale, shift, y []float32, cols int) {
	part := gpu.Shared[[width]float32](t)
	me, start := t.ThreadX(), t.BlockX()*cols
	var sum float32
	for i := me; i < cols; i += width {
		sum += x[start+i]
	}
	mean := blockSum32(t, part, sum) / float32(cols)
	t.Sync()
	var squares float32
	for i := me; i < cols; i += width {
		d := x[start+i] - mean
		squares += d * d
	}
	variance := blockSum32(t, part, squares) / float32(cols)
	factor := math32.Rsqrt(variance + epsilon)
	for i := me; i < cols; i += width {
		y[start+i] = (x[start+i]-mean)*factor*scale[i] + shift[i]
	}
}

// epsilon keeps layerNorm from dividing by zero.
const epsilon = 1e-5

// rowsChecked is how many rows at most are compared with plain Go.
const rowsChecked = 1024

// newSoftmax prepares the softmax of rows of 16384 elements, or of 600 where there are few rows.
func newSoftmax(b *harness.Bench, rows int) harness.Work {
	cols := 16384
	if rows < 1000 {
		cols = 600
	}
	x, y := harness.Input(b, harness.Random(b, rows*cols, harness.Between(-8, 8))), harness.Result(b, rows*cols, harness.NaN[float32]())
	run := harness.Of("softmax", Softmax, rowGrid(rows), x, y, harness.ByValue(cols))
	wide := device.Grid{Blocks: device.Dim{X: rows}, Block: device.Dim{X: rowWidth}}
	return harness.Work{
		Bytes: float64(8 * rows * cols),
		Ours:  []harness.Launch{run},
		Tuned: []harness.Launch{harness.Of("softmaxBest", SoftmaxBest, wide, harness.As[[4]float32](x), harness.As[[4]float32](y), harness.ByValue(cols))},
		Best:  []harness.Launch{run.Best(wide)},
		Check: func() error {
			return harness.Examine(rows, rowsChecked, func(row int) error {
				from := x.Host[row*cols:][:cols]
				var sum float64
				for _, v := range from {
					sum += math.Exp(float64(v))
				}
				return compareRow(y.Host[row*cols:][:cols], 1e-9, func(i int) float64 { return math.Exp(float64(from[i])) / sum })
			})
		},
	}
}

// newLayerNorm prepares the layer norm of rows of 4096 elements, or of 600 where there are few rows.
func newLayerNorm(b *harness.Bench, rows int) harness.Work {
	cols := 4096
	if rows < 1000 {
		cols = 600
	}
	x, y := harness.Input(b, harness.Random(b, rows*cols, harness.Between(-1, 3))), harness.Result(b, rows*cols, harness.NaN[float32]())
	scale, shift := harness.Input(b, harness.Random(b, cols, harness.Signed)), harness.Input(b, harness.Random(b, cols, harness.Signed))
	run := harness.Of("layerNorm", LayerNorm, rowGrid(rows), x, scale, shift, y, harness.ByValue(cols))
	return harness.Work{
		Bytes: float64(8 * rows * cols),
		Ours:  []harness.Launch{run},
		Tuned: []harness.Launch{harness.Of("layerNormBest", LayerNormBest, rowGrid(rows), harness.As[[4]float32](x), harness.As[[4]float32](scale), harness.As[[4]float32](shift), harness.As[[4]float32](y), harness.ByValue(cols))},
		Best:  []harness.Launch{run.Best(rowGrid(rows))},
		Check: func() error {
			return harness.Examine(rows, rowsChecked, func(row int) error {
				from := x.Host[row*cols:][:cols]
				mean, deviation := moments(from)
				return compareRow(y.Host[row*cols:][:cols], 1, func(i int) float64 {
					return (float64(from[i])-mean)/deviation*float64(scale.Host[i]) + float64(shift.Host[i])
				})
			})
		},
	}
}

// moments returns the mean of x and the standard deviation, epsilon added to its square.
func moments(x []float32) (mean, deviation float64) {
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	var squares float64
	for _, v := range x {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	return mean, math.Sqrt(squares/float64(len(x)) + epsilon)
}

// compareRow compares a row with want, with a relative error of 1e-5, or of scale where want is
// smaller.
func compareRow(row []float32, scale float64, want func(i int) float64) error {
	for i, got := range row {
		w := want(i)
		if d := math.Abs(float64(got) - w); !(d <= 1e-5*max(math.Abs(w), scale)) {
			return fmt.Errorf("element %d of a row is %v, want %v", i, got, w)
		}
	}
	return nil
}

// rowGrid is a block for each row.
func rowGrid(rows int) device.Grid {
	return device.Grid{Blocks: device.Dim{X: rows}, Block: device.Dim{X: width}}
}
