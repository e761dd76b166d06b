// Package unknown has kernels that call functions of other packages, which the analyzer does not
// see.
package unknown

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func kernel(t gpu.Thread, x []float64, y []dtype.F16, z []dtype.F8E4M3) {
	s := gpu.Shared[[32]float64](t)
	i := t.ThreadX()
	s[i] = math.Exp(x[i]) + float64(y[i].Float32()) + float64(z[i].Float32())
	sum := gpu.WarpReduceAdd(t, s[i]) // which may synchronize
	x[i] = s[31-i] + sum
	q, r := bits.Div64(1, 2, uint64(i+5))
	x[q] = slices.Max(x[:r])
	v, ok := lookup(int(r), x)
	if ok {
		x[0] = v
	}
}

func lookup(n int, x []float64) (float64, bool) {
	i, ok := slices.BinarySearch(x, float64(n))
	return math.Sqrt(float64(i)), ok
}

//gpu:kernel
func wrong(t gpu.Thread, x []float64) {
	if math.Log(x[t.ThreadX()]) > 1 {
		t.Sync() // want `only some threads`
	}
	t.Sync() // want `only some threads`
}

// A build computes these tables.
var lengths, widths = lengthsOf(5), [2]int{bits.Len64(7), int(dtype.F16From32(2))}

func lengthsOf(n uint64) (x []int) {
	for i := range n {
		x = append(x, bits.Len64(i))
	}
	return x
}

var written = lengthsOf(3)

//gpu:kernel
func tables(t gpu.Thread, x []int) {
	x[0] = lengths[len(x)] + widths[x[1]]
	x[1] = written[0] // want `it is written in setWritten`
}

func setWritten() { written = nil }
