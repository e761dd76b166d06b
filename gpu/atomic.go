package gpu

import (
	"sync/atomic"
	"unsafe"
)

// Number is a type that AtomicAdd adds.
type Number interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64 | ~float32 | ~float64
}

// AtomicAdd adds v to *p as one indivisible step and returns what *p held before. Of
// several threads that add to one place each sees another value, in no fixed order, so a
// floating-point sum may differ in its last bits from run to run. The order of other memory accesses
// around it is not fixed (relaxed), and it is indivisible for all threads of one device.
func AtomicAdd[T Number](p *T, v T) T {
	word, half := unsafe.Sizeof(v) == 4, T(1)
	half /= 2
	switch isFloat := half != 0; {
	case isFloat && word:
		return addFloat32(p, v)
	case isFloat:
		return addFloat64(p, v)
	case word: // adding wraps alike with and without a sign
		return T(atomic.AddUint32((*uint32)(unsafe.Pointer(p)), uint32(v))) - v
	default:
		return T(atomic.AddUint64((*uint64)(unsafe.Pointer(p)), uint64(v))) - v
	}
}

// addFloat32 adds 4-byte floats: it tries until no other thread came between.
func addFloat32[T Number](p *T, v T) T {
	word := (*uint32)(unsafe.Pointer(p))
	for {
		old := atomic.LoadUint32(word)
		was := *(*T)(unsafe.Pointer(&old))
		now := was + v
		if atomic.CompareAndSwapUint32(word, old, *(*uint32)(unsafe.Pointer(&now))) {
			return was
		}
	}
}

// addFloat64 adds 8-byte floats, as addFloat32 does.
func addFloat64[T Number](p *T, v T) T {
	word := (*uint64)(unsafe.Pointer(p))
	for {
		old := atomic.LoadUint64(word)
		was := *(*T)(unsafe.Pointer(&old))
		now := was + v
		if atomic.CompareAndSwapUint64(word, old, *(*uint64)(unsafe.Pointer(&now))) {
			return was
		}
	}
}
