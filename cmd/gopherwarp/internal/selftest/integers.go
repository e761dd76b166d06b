package selftest

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// signed and unsigned are the types that the arithmetic below is checked for.
type (
	signed   interface{ int8 | int32 | int64 }
	unsigned interface{ uint16 | uint32 | uint64 }
)

// mixSigned uses each operator of signed integers, with shifts by more than their width and
// divisions of the smallest number by -1.
func mixSigned[T signed](a, b T) T {
	c := a*b + a - b
	c ^= (a &^ b) | (a & b)
	if b != 0 {
		c += a/b - a%b
	}
	c += -a>>1 + ^b
	n := uint(b & 15)
	return c + a<<n + b>>(n*8)
}

// mixUnsigned does the same with unsigned ones.
func mixUnsigned[T unsigned](a, b T) T {
	c := a*b + a - b
	c ^= (a &^ b) | (a & b)
	if b != 0 {
		c += a/b - a%b
	}
	c += -a>>1 + ^b
	n := uint(b & 15)
	return c + a<<n + b>>(n*8)
}

//gpu:kernel
func int8s(t gpu.Thread, a, b, c []int8) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = mixSigned(a[i], b[i])
	}
}

//gpu:kernel
func uint16s(t gpu.Thread, a, b, c []uint16) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = mixUnsigned(a[i], b[i])
	}
}

//gpu:kernel
func int32s(t gpu.Thread, a, b, c []int32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = mixSigned(a[i], b[i])
	}
}

//gpu:kernel
func uint32s(t gpu.Thread, a, b, c []uint32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = mixUnsigned(a[i], b[i]) + bits.RotateLeft32(a[i], 5) + uint32(bits.LeadingZeros32(b[i]))
	}
}

//gpu:kernel
func int64s(t gpu.Thread, a, b, c []int64) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = mixSigned(a[i], b[i])
	}
}

//gpu:kernel
func uint64s(t gpu.Thread, a, b, c []uint64) {
	if i := t.GlobalX(); i < len(c) {
		hi, lo := bits.Mul64(a[i], b[i])
		c[i] = mixUnsigned(a[i], b[i]) + hi ^ lo + uint64(bits.OnesCount64(a[i]))
	}
}

func checkInt8(s *session) error   { return checkBinary(s, Int8s, mixSigned[int8]) }
func checkInt32(s *session) error  { return checkBinary(s, Int32s, mixSigned[int32]) }
func checkInt64(s *session) error  { return checkBinary(s, Int64s, mixSigned[int64]) }
func checkUint16(s *session) error { return checkBinary(s, Uint16s, mixUnsigned[uint16]) }

func checkUint32(s *session) error {
	return checkBinary(s, Uint32s, func(a, b uint32) uint32 {
		return mixUnsigned(a, b) + bits.RotateLeft32(a, 5) + uint32(bits.LeadingZeros32(b))
	})
}

func checkUint64(s *session) error {
	return checkBinary(s, Uint64s, func(a, b uint64) uint64 {
		hi, lo := bits.Mul64(a, b)
		return mixUnsigned(a, b) + hi ^ lo + uint64(bits.OnesCount64(a))
	})
}

// binary is a launcher of a kernel that stores a function of a and b in c.
type binary[T any] func(s *device.Stream, g device.Grid, a, b, c device.Slice[T]) error

// checkBinary compares a kernel with f for every pair of numbers that are worth a try.
func checkBinary[T signed | unsigned](s *session, launch binary[T], f func(a, b T) T) error {
	return checkPairs(s, launch, pairsOf(numbers[T](), f))
}

// pairs are arguments of a function of two numbers, and its results.
type pairs[T any] struct{ a, b, want []T }

// pairsOf pairs each of the numbers with each.
func pairsOf[T any](numbers []T, f func(a, b T) T) pairs[T] {
	var p pairs[T]
	for _, x := range numbers {
		for _, y := range numbers {
			p.a, p.b, p.want = append(p.a, x), append(p.b, y), append(p.want, f(x, y))
		}
	}
	return p
}

// checkPairs compares a kernel with the results that it should have.
func checkPairs[T comparable](s *session, launch binary[T], p pairs[T]) error {
	a, err := upload(s, p.a)
	if err != nil {
		return err
	}
	b, err := upload(s, p.b)
	if err != nil {
		return err
	}
	c, err := upload(s, make([]T, len(p.want)))
	if err != nil {
		return err
	}
	if err := launch(s.stream, device.Cover(len(p.want), 128), a, b, c); err != nil {
		return err
	}
	return expect(s, c, p.want)
}

// numbers returns small ones, the bounds of T and others without a pattern.
func numbers[T signed | unsigned]() []T {
	found := []T{0, 1, 2, 3, 7, 100}
	top := T(1)
	for top<<1 != 0 {
		top <<= 1
	}
	found = append(found, top, top-1, top+1, ^T(0), ^T(0)-1)
	state := uint64(0x9e3779b97f4a7c15)
	for range 20 {
		state = state*6364136223846793005 + 1442695040888963407
		found = append(found, T(state>>24))
	}
	return found
}
