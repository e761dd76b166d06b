package k

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func parts(t gpu.Thread, x []float32) {
	p := unsafe.SliceData(x) // want "cannot use the built-in function SliceData \(GW0112\)"
	*p = 1
}
