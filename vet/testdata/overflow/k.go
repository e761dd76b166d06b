package overflow

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func product(t gpu.Thread, x []float32, width int32) {
	row := int32(t.GlobalX())
	for i := range width {
		x[row*width+i] = 0 // want `this index is a product of 32 bits, which large grids overflow` `a variable number apart`
	}
}

//gpu:kernel
func right(t gpu.Thread, x []float32, width int32) {
	row := int32(t.BlockX())
	for i := t.ThreadX(); i < int(width); i += t.BlockDimX() {
		x[int(row)*int(width)+i] = 0
	}
}
