package row

import (
	"math"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Words is 16 bytes of elements, which a thread of a Wide kernel accesses at once. It is not an array of elements, so that a load
// under a condition is followed by no conversion, which would wait for it.
type Words [4]uint32

// Vectors converts Words to float32 numbers and back, rounded to the nearest element, to even from halfway.
type Vectors[A [4]float32 | [8]float32] interface {
	Unpack(w Words) A
	Pack(a A) Words
}

// Unpack returns the elements of w.
func (F32) Unpack(w Words) (a [4]float32) {
	for i := range w {
		a[i] = math.Float32frombits(w[i])
	}
	return a
}

// Pack returns the elements of a.
func (F32) Pack(a [4]float32) (w Words) {
	for i := range w {
		w[i] = math.Float32bits(a[i])
	}
	return w
}

// Unpack returns the elements of w as float32 numbers.
func (BF16) Unpack(w Words) (a [8]float32) {
	for i := range w {
		a[2*i] = math.Float32frombits(w[i] << 16)
		a[2*i+1] = math.Float32frombits(w[i] & 0xffff0000)
	}
	return a
}

// Pack returns the numbers of a, rounded to elements.
func (BF16) Pack(a [8]float32) (w Words) {
	for i := range w {
		w[i] = uint32(dtype.BF16From32(a[2*i])) | uint32(dtype.BF16From32(a[2*i+1]))<<16
	}
	return w
}

// Unpack returns the elements of w as float32 numbers.
func (F16) Unpack(w Words) (a [8]float32) {
	for i := range w {
		a[2*i] = dtype.F16(w[i]).Float32()
		a[2*i+1] = dtype.F16(w[i] >> 16).Float32()
	}
	return a
}

// Pack returns the numbers of a, rounded to elements.
func (F16) Pack(a [8]float32) (w Words) {
	for i := range w {
		w[i] = uint32(dtype.F16From32(a[2*i])) | uint32(dtype.F16From32(a[2*i+1]))<<16
	}
	return w
}

// Fits reports whether the Wide form can compute rows of matrices: whether rows are whole Words, and all slices are aligned for Words
// and have fewer than 1<<31.
func Fits[T Number](columns int, slices ...device.Slice[T]) bool {
	for _, x := range slices {
		if !x.Aligned(VectorBytes) || x.Len()/Elements[T]() > math.MaxInt32 {
			return false
		}
	}
	return columns%Elements[T]() == 0
}

// VectorBytes is the size of a vector, which a thread loads or stores at once.
const VectorBytes = 16

// Elements returns the number of elements in a vector.
func Elements[T Number]() int {
	var x T
	return VectorBytes / int(unsafe.Sizeof(x))
}
