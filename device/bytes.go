package device

import "unsafe"

// memory is a Go slice of any type.
type memory struct {
	bytes []byte
	len   int // elements
	elem  int // bytes of an element
}

// memoryOf returns s as memory. Its bytes keep the slice's memory alive.
func memoryOf[T any](s []T) memory {
	return memory{unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]()), len(s), sizeOf[T]()}
}

// sizeOf returns the size of a T in bytes.
func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}
