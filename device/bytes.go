package device

import "unsafe"

// bytesOf views a slice as bytes. The view keeps the slice's memory alive.
func bytesOf[T any](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// sizeOf returns the size of a T in bytes.
func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}
