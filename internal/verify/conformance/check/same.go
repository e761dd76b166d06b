package check

import (
	"bytes"
	"math"
	"reflect"
	"unsafe"
)

// same reports whether two values are the same bits, all NaNs being one.
func same[T any](a, b T) bool {
	bits := func(x *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(x)), unsafe.Sizeof(*x)) }
	if bytes.Equal(bits(&a), bits(&b)) { // which most are, and reflection takes long
		return true
	}
	return equal(reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem())
}

func equal(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		x, y := a.Float(), b.Float()
		return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y
	case reflect.Array:
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	default:
		return a.Equal(b)
	}
}
