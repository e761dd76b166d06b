package gpu

import (
	"sync/atomic"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Integer is a type whose bits the atomic operations combine.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64
}

// Number is a type that the atomic operations know.
type Number interface {
	Integer | ~float32 | ~float64
}

// AtomicAdd adds v to *p as one indivisible step and returns what *p held before. Of
// several threads that add to one place each sees another value, in no fixed order, so a
// floating-point sum may differ in its last bits from run to run.
//
// As all the functions here it takes a pointer into a slice or into shared memory, is Relaxed and
// has DeviceScope where how does not say otherwise. A GPU takes float32 numbers that are
// subnormal for zero in additions to a slice.
func AtomicAdd[T Number](p *T, v T, how ...Memory) T {
	if v == 0 { // which reads, maybe in a loop
		simt.Pause()
	}
	switch word, float := kind[T](); {
	case float:
		return update(p, func(old T) T { return old + v })
	case word: // adding wraps alike with and without a sign
		return T(atomic.AddUint32((*uint32)(unsafe.Pointer(p)), uint32(v))) - v
	default:
		return T(atomic.AddUint64((*uint64)(unsafe.Pointer(p)), uint64(v))) - v
	}
}

// AtomicSub subtracts v from *p and returns what *p held before.
func AtomicSub[T Number](p *T, v T, how ...Memory) T { return AtomicAdd(p, -v) }

// AtomicMin stores v in *p where it is less, as the built-in min has it, and returns what *p
// held before.
func AtomicMin[T Number](p *T, v T, how ...Memory) T {
	return update(p, func(old T) T { return min(old, v) })
}

// AtomicMax stores v in *p where it is greater, as the built-in max has it, and returns what *p
// held before.
func AtomicMax[T Number](p *T, v T, how ...Memory) T {
	return update(p, func(old T) T { return max(old, v) })
}

// AtomicAnd stores *p & v in *p and returns what *p held before.
func AtomicAnd[T Integer](p *T, v T, how ...Memory) T {
	return update(p, func(old T) T { return old & v })
}

// AtomicOr stores *p | v in *p and returns what *p held before.
func AtomicOr[T Integer](p *T, v T, how ...Memory) T {
	return update(p, func(old T) T { return old | v })
}

// AtomicXor stores *p ^ v in *p and returns what *p held before.
func AtomicXor[T Integer](p *T, v T, how ...Memory) T {
	return update(p, func(old T) T { return old ^ v })
}

// AtomicExchange stores v in *p and returns what *p held before.
func AtomicExchange[T Number](p *T, v T, how ...Memory) T {
	simt.Pause()
	if word, _ := kind[T](); word {
		old := atomic.SwapUint32((*uint32)(unsafe.Pointer(p)), *(*uint32)(unsafe.Pointer(&v)))
		return *(*T)(unsafe.Pointer(&old))
	}
	old := atomic.SwapUint64((*uint64)(unsafe.Pointer(p)), *(*uint64)(unsafe.Pointer(&v)))
	return *(*T)(unsafe.Pointer(&old))
}

// AtomicCompareAndSwap stores to in *p where *p holds from, bit by bit, and returns what *p
// held before and whether that was so.
func AtomicCompareAndSwap[T Number](p *T, from, to T, how ...Memory) (was T, swapped bool) {
	simt.Pause()
	for {
		if swap(p, from, to) {
			return from, true
		}
		if was = load(p); !sameBits(was, from) {
			return was, false
		}
	}
}

// AtomicLoad returns *p. Its order is Relaxed, Acquire or Sequential.
//
// A loop may wait with it, or with an exchange or a compare-and-swap, for what another thread
// stores. Should that thread fault, one that waits leaves the kernel.
func AtomicLoad[T Number](p *T, how ...Memory) T {
	simt.Pause()
	return load(p)
}

func load[T Number](p *T) T {
	if word, _ := kind[T](); word {
		v := atomic.LoadUint32((*uint32)(unsafe.Pointer(p)))
		return *(*T)(unsafe.Pointer(&v))
	}
	v := atomic.LoadUint64((*uint64)(unsafe.Pointer(p)))
	return *(*T)(unsafe.Pointer(&v))
}

// AtomicStore stores v in *p. Its order is Relaxed, Release or Sequential.
func AtomicStore[T Number](p *T, v T, how ...Memory) {
	if word, _ := kind[T](); word {
		atomic.StoreUint32((*uint32)(unsafe.Pointer(p)), *(*uint32)(unsafe.Pointer(&v)))
		return
	}
	atomic.StoreUint64((*uint64)(unsafe.Pointer(p)), *(*uint64)(unsafe.Pointer(&v)))
}

// update replaces *p by what f makes of it and returns what *p held before: it tries until no
// other thread came between.
func update[T Number](p *T, f func(old T) T) T {
	simt.Pause()
	for {
		old := load(p)
		if swap(p, old, f(old)) {
			return old
		}
	}
}

// swap stores to in *p where *p holds from, bit by bit, and reports whether that was so.
func swap[T Number](p *T, from, to T) bool {
	if word, _ := kind[T](); word {
		return atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(p)), *(*uint32)(unsafe.Pointer(&from)), *(*uint32)(unsafe.Pointer(&to)))
	}
	return atomic.CompareAndSwapUint64((*uint64)(unsafe.Pointer(p)), *(*uint64)(unsafe.Pointer(&from)), *(*uint64)(unsafe.Pointer(&to)))
}

func sameBits[T Number](a, b T) bool {
	if word, _ := kind[T](); word {
		return *(*uint32)(unsafe.Pointer(&a)) == *(*uint32)(unsafe.Pointer(&b))
	}
	return *(*uint64)(unsafe.Pointer(&a)) == *(*uint64)(unsafe.Pointer(&b))
}

// kind reports whether T has 4 bytes, not 8, and whether it is a float.
func kind[T Number]() (word, float bool) {
	half := T(1)
	half /= 2
	return unsafe.Sizeof(half) == 4, half != 0
}
