package overflow

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func product(t gpu.Thread, x []float32, width int32) {
	row := int32(t.GlobalX())
	for i := range width {
		x[row*width+i] = 0 // want `this index is a 32-bit product, which may overflow in large grids` `a variable distance apart`
	}
}

//gpu:kernel
func right(t gpu.Thread, x []float32, width int32) {
	row := int32(t.BlockX())
	for i := t.ThreadX(); i < int(width); i += t.BlockDimX() {
		x[int(row)*int(width)+i] = 0
	}
}

func add(i int32) int32   { return i + (i ^ 1) + i*i }
func add4(i int32) int32  { return add(add(add(add(i)))) }
func add16(i int32) int32 { return add4(add4(add4(add4(i)))) }

// doubled has an index in which each part is used twice.
//
//gpu:kernel
func doubled(t gpu.Thread, n int32, x []float32) {
	i := add16(add16(n))
	x[i*n] = 1
	x[i] = 2
}
