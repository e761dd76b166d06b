package gpu

import (
	"sync/atomic"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Integer is the constraint of warp operations on bits.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64
}

// Number is the constraint of the numbers that warp operations take.
type Number interface {
	Integer | ~float32 | ~float64
}

// AtomicInteger is the constraint of atomic operations on the bits of integers. It excludes defined types of 8 and 16
// bits, such as dtype.F16.
type AtomicInteger interface {
	Integer | int8 | int16 | uint8 | uint16
}

// AtomicNumber is the constraint of atomic operations.
type AtomicNumber interface {
	AtomicInteger | ~float32 | ~float64
}

// AtomicAdd atomically adds v to *p and returns the old value of *p. If several threads add to the
// same variable, the order of the additions is unspecified, so a floating-point sum may differ in
// its last bits between runs.
//
// As in all atomic operations of this package, p may point into a slice, into shared memory or to a variable of the thread, and the
// options are the memory order and the scope. The defaults are Relaxed and DeviceScope. On a GPU,
// additions to an element of a slice treat subnormal float32 values as zero.
//
// Operations on integers of 8 and 16 bits update the aligned 32-bit word that contains *p. Other threads may access the
// other bytes of that word at the same time, but on the CPU, Go's race detector (-race) reports such accesses.
func AtomicAdd[T AtomicNumber](p *T, v T, options ...Memory) T {
	if v == 0 { // a read, possibly in a loop that waits
		simt.Pause()
	}
	switch word, float := kind[T](); {
	case float || unsafe.Sizeof(v) < 4:
		return update(p, func(old T) T { return old + v })
	case word: // addition wraps alike for signed and unsigned integers
		return T(atomic.AddUint32((*uint32)(unsafe.Pointer(p)), uint32(v))) - v
	default:
		return T(atomic.AddUint64((*uint64)(unsafe.Pointer(p)), uint64(v))) - v
	}
}

// AtomicSub atomically subtracts v from *p and returns the old value of *p.
func AtomicSub[T AtomicNumber](p *T, v T, options ...Memory) T { return AtomicAdd(p, -v) }

// AtomicMin atomically stores min(*p, v) in *p, where min is the built-in function, and returns the
// old value of *p.
func AtomicMin[T AtomicNumber](p *T, v T, options ...Memory) T {
	return update(p, func(old T) T { return min(old, v) })
}

// AtomicMax atomically stores max(*p, v) in *p, where max is the built-in function, and returns the
// old value of *p.
func AtomicMax[T AtomicNumber](p *T, v T, options ...Memory) T {
	return update(p, func(old T) T { return max(old, v) })
}

// AtomicAnd atomically stores *p & v in *p and returns the old value of *p.
func AtomicAnd[T AtomicInteger](p *T, v T, options ...Memory) T {
	return update(p, func(old T) T { return old & v })
}

// AtomicOr atomically stores *p | v in *p and returns the old value of *p.
func AtomicOr[T AtomicInteger](p *T, v T, options ...Memory) T {
	return update(p, func(old T) T { return old | v })
}

// AtomicXor atomically stores *p ^ v in *p and returns the old value of *p.
func AtomicXor[T AtomicInteger](p *T, v T, options ...Memory) T {
	return update(p, func(old T) T { return old ^ v })
}

// AtomicExchange atomically stores v in *p and returns the old value of *p.
func AtomicExchange[T AtomicNumber](p *T, v T, options ...Memory) T {
	if unsafe.Sizeof(v) < 4 {
		return update(p, func(T) T { return v })
	}
	simt.Pause()
	if word, _ := kind[T](); word {
		old := atomic.SwapUint32((*uint32)(unsafe.Pointer(p)), *(*uint32)(unsafe.Pointer(&v)))
		return *(*T)(unsafe.Pointer(&old))
	}
	old := atomic.SwapUint64((*uint64)(unsafe.Pointer(p)), *(*uint64)(unsafe.Pointer(&v)))
	return *(*T)(unsafe.Pointer(&old))
}

// AtomicCompareAndSwap atomically sets *p to new if the bits of *p equal the bits of old. It
// returns the previous value of *p and reports whether it has set *p.
func AtomicCompareAndSwap[T AtomicNumber](p *T, old, new T, options ...Memory) (previous T, swapped bool) {
	simt.Pause()
	for {
		if swap(p, old, new) {
			return old, true
		}
		if previous = load(p); !sameBits(previous, old) {
			return previous, false
		}
	}
}

// AtomicLoad atomically loads and returns *p. The memory order must be Relaxed, Acquire or Sequential.
//
// A loop may call AtomicLoad, AtomicExchange or AtomicCompareAndSwap to wait for a value that
// another thread stores. If that thread faults, the waiting thread exits.
func AtomicLoad[T AtomicNumber](p *T, options ...Memory) T {
	simt.Pause()
	return load(p)
}

func load[T AtomicNumber](p *T) T {
	if w, at := wordOf(p); w != nil {
		v := atomic.LoadUint32(w) >> at
		return *(*T)(unsafe.Pointer(&v))
	}
	if word, _ := kind[T](); word {
		v := atomic.LoadUint32((*uint32)(unsafe.Pointer(p)))
		return *(*T)(unsafe.Pointer(&v))
	}
	v := atomic.LoadUint64((*uint64)(unsafe.Pointer(p)))
	return *(*T)(unsafe.Pointer(&v))
}

// AtomicStore atomically stores v in *p. The memory order must be Relaxed, Release or Sequential.
func AtomicStore[T AtomicNumber](p *T, v T, options ...Memory) {
	if unsafe.Sizeof(v) < 4 {
		for !swap(p, load(p), v) {
		}
		return
	}
	if word, _ := kind[T](); word {
		atomic.StoreUint32((*uint32)(unsafe.Pointer(p)), *(*uint32)(unsafe.Pointer(&v)))
		return
	}
	atomic.StoreUint64((*uint64)(unsafe.Pointer(p)), *(*uint64)(unsafe.Pointer(&v)))
}

// update atomically replaces *p by f(*p) and returns the old value of *p. It retries until no other
// thread has changed *p in between.
func update[T AtomicNumber](p *T, f func(old T) T) T {
	simt.Pause()
	for {
		old := load(p)
		if swap(p, old, f(old)) {
			return old
		}
	}
}

// swap atomically stores to in *p if the bits of *p equal those of from, and reports whether it
// did. It may fail without a reason if T has less than 32 bits.
func swap[T AtomicNumber](p *T, from, to T) bool {
	if w, at := wordOf(p); w != nil {
		old := atomic.LoadUint32(w)
		mask := uint32(1)<<(8*unsafe.Sizeof(from)) - 1
		if v := old >> at & mask; v != smallBits(from) {
			return false
		}
		return atomic.CompareAndSwapUint32(w, old, old&^(mask<<at)|smallBits(to)<<at)
	}
	if word, _ := kind[T](); word {
		return atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(p)), *(*uint32)(unsafe.Pointer(&from)), *(*uint32)(unsafe.Pointer(&to)))
	}
	return atomic.CompareAndSwapUint64((*uint64)(unsafe.Pointer(p)), *(*uint64)(unsafe.Pointer(&from)), *(*uint64)(unsafe.Pointer(&to)))
}

// wordOf returns the aligned word that contains *p and the number of the word's bits below *p. For types with 32 bits or
// more, it returns nil. The bytes of a word are in little-endian order, as on amd64 and arm64.
func wordOf[T AtomicNumber](p *T) (word *uint32, at uintptr) {
	if unsafe.Sizeof(*p) >= 4 {
		return nil, 0
	}
	below := uintptr(unsafe.Pointer(p)) & 3
	return (*uint32)(unsafe.Add(unsafe.Pointer(p), -int(below))), 8 * below
}

// smallBits returns the bits of an integer with 8 or 16 bits.
func smallBits[T AtomicNumber](v T) uint32 {
	if unsafe.Sizeof(v) == 1 {
		return uint32(*(*uint8)(unsafe.Pointer(&v)))
	}
	return uint32(*(*uint16)(unsafe.Pointer(&v)))
}

func sameBits[T AtomicNumber](a, b T) bool {
	if unsafe.Sizeof(a) < 4 {
		return smallBits(a) == smallBits(b)
	}
	if word, _ := kind[T](); word {
		return *(*uint32)(unsafe.Pointer(&a)) == *(*uint32)(unsafe.Pointer(&b))
	}
	return *(*uint64)(unsafe.Pointer(&a)) == *(*uint64)(unsafe.Pointer(&b))
}

// kind reports whether T has 4 bytes rather than 8, and whether it is a floating-point type.
func kind[T AtomicNumber]() (word, float bool) {
	half := T(1)
	half /= 2
	return unsafe.Sizeof(half) == 4, half != 0
}
