package cudasys

import (
	"runtime"
	"unsafe"
)

// TensorMap holds the arguments of TensorMapEncodeTiled, of rank 3, and its result. It contains all
// memory that C accesses.
type TensorMap struct {
	DataType   int32 // TensorUint8 and so on
	Swizzle    int32 // SwizzleNone or Swizzle128
	Address    uintptr
	Dim        [3]uint64 // elements along each axis
	Strides    [2]uint64 // bytes, of all axes but the first
	Box        [3]uint32 // elements along each axis
	steps      [3]uint32
	raw        [tensorMapBytes + tensorMapAlign]byte
	resultFrom int
}

// Values of TensorMap.
const (
	TensorUint8  = 0
	TensorUint16 = 1
	TensorUint32 = 2
	TensorUint64 = 4
	SwizzleNone  = 0
	Swizzle128   = 3

	promote128     = 2 // CU_TENSOR_MAP_L2_PROMOTION_L2_128B
	tensorMapBytes = 128
	tensorMapAlign = 64
)

// Result returns the CUtensorMap that TensorMapEncodeTiled has written.
func (m *TensorMap) Result() *[tensorMapBytes]byte {
	return (*[tensorMapBytes]byte)(m.raw[m.resultFrom:])
}

// encodeTensorMap is cuTensorMapEncodeTiled, whose result must be aligned to 64 bytes.
func (a address) encodeTensorMap(m *TensorMap) Status {
	m.steps = [3]uint32{1, 1, 1}
	m.resultFrom = int(-uintptr(unsafe.Pointer(&m.raw)) & (tensorMapAlign - 1))
	s := a.call(pointer(m.Result()), uintptr(m.DataType), uintptr(len(m.Dim)), m.Address, pointer(&m.Dim), pointer(&m.Strides),
		pointer(&m.Box), pointer(&m.steps), 0, uintptr(m.Swizzle), promote128, 0)
	runtime.KeepAlive(m)
	return s
}
