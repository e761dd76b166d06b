package k

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func places(t gpu.Thread, x []float32) {
	p := gpu.Shared[*int](t) // want "gpu.Shared of a type with pointers"
	*p = nil
	gpu.DynamicShared[[]int](t)    // want "gpu.DynamicShared of a type with pointers"
	gpu.DynamicShared[struct{}](t) // want "gpu.DynamicShared of a type with pointers or of size 0"
}

//gpu:kernel
func tiles(t gpu.Thread, x [][8]dtype.F16) {
	gpu.LoadMatrix(t, &x[0])       // want "the address that is passed to gpu.LoadMatrix is not known to be in shared memory"
	gpu.FetchAsync(t, &x[0], x, 1) // want "the address that is passed to gpu.FetchAsync is not known"
}
