package row

import "unsafe"

// Unpack returns the elements of v as float32 numbers. A and V have the same length: that of 16 bytes of elements, which a
// thread of a Wide kernel accesses at once.
func Unpack[T any, V [4]T | [8]T, A [4]float32 | [8]float32, F Format[T]](v V) (a A) {
	var f F
	for i := range len(a) {
		a[i] = f.Float32(v[i])
	}
	return a
}

// Pack returns the numbers of a, rounded to elements. A and V have the same length.
func Pack[T any, V [4]T | [8]T, A [4]float32 | [8]float32, F Format[T]](a A) (v V) {
	var f F
	for i := range len(a) {
		v[i] = f.Of(a[i])
	}
	return v
}

// VectorBytes is the size of a vector, which a thread loads or stores at once.
const VectorBytes = 16

// Elements returns the number of elements in a vector.
func Elements[T Number]() int {
	var x T
	return VectorBytes / int(unsafe.Sizeof(x))
}
