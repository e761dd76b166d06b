package k

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func pointers(t gpu.Thread, x []float32) {
	p := unsafe.Pointer(&x[0]) // want "cannot use an unsafe pointer"
	*(*uint32)(p) = 1
}
