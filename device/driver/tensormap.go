package driver

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// TensorPlan contains the parameters of a tensor map.
type TensorPlan struct {
	Address uintptr
	Element int    // size in bytes
	Size    [3]int // elements along x, y and z
	Stride  [2]int // bytes from row to row and from layer to layer
	Box     [2]int // elements along x and y that one copy moves
	Panels  bool   // the tile consists of gpu.Panels
}

// Put writes the tensor map in the form that Go code reads, for back ends that are not
// TensorMappers. The garbage collector does not see the address; the Plan's owner keeps the memory alive.
func (t TensorPlan) Put(dst *[TensorMapBytes]byte) {
	to := (*gpu.MapPlan)(unsafe.Pointer(dst))
	*(*uintptr)(unsafe.Pointer(&to.Address)) = t.Address
	to.Size = [3]int32{int32(t.Size[0]), int32(t.Size[1]), int32(t.Size[2])}
	to.Box = [2]int32{int32(t.Box[0]), int32(t.Box[1])}
	to.Element, to.Panels = int32(t.Element), t.Panels
	to.Stride = [2]int64{int64(t.Stride[0]), int64(t.Stride[1])}
}
