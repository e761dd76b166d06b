package k

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

func scratch(t gpu.Thread) *[4]float32 { return gpu.Shared[[4]float32](t) }

func twice(t gpu.Thread) { scratch(t) }

//gpu:kernel
func places(t gpu.Thread, x []float32) {
	if x[0] > 0 {
		a := gpu.Shared[[4]float32](t) // want "gpu.Shared is called in a branch"
		a[0] = 1
	}
	for range x {
		b := gpu.Shared[[4]float32](t) // want "gpu.Shared is called in a loop"
		b[0] = 1
	}
	p := gpu.Shared[*int](t) // want "gpu.Shared of a type with pointers"
	*p = nil
	scratch(t)[0] = 1
	gpu.DynamicShared[[]int](t)    // want "gpu.DynamicShared of a type with pointers"
	gpu.DynamicShared[struct{}](t) // want "gpu.DynamicShared of a type with pointers or of size 0"
	twice(t)                       // want "scratch, which calls gpu.Shared, is called twice"
}

//gpu:kernel
func early(t gpu.Thread, x []float32) {
	if len(x) == 0 {
		return
	}
	scratch(t)[0] = 1 // want "scratch, which calls gpu.Shared, is called in a branch"
}

//gpu:kernel
func once(t gpu.Thread, x []float32) {
	scratch(t)[0] = x[0]
}

//gpu:kernel
func tiles(t gpu.Thread, x [][8]dtype.F16) {
	gpu.LoadMatrix(t, &x[0])       // want "the address that is passed to gpu.LoadMatrix is not known to be in shared memory"
	gpu.FetchAsync(t, &x[0], x, 1) // want "the address that is passed to gpu.FetchAsync is not known"
}
