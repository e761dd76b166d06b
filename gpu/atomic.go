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
	if unsafe.Sizeof(v) == 4 {
		return add32(p, v)
	}
	return add64(p, v)
}

// add32 adds 4-byte numbers. The casts keep the bits: T's kind decides what adding means.
func add32[T Number](p *T, v T) T {
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

// add64 adds 8-byte numbers, as add32 does.
func add64[T Number](p *T, v T) T {
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
