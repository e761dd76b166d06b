package trial

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// fill sets a value to numbers that are worth a try.
func (l layout) fill(r *rand.Rand, value []byte) {
	for _, f := range l.leaves {
		put(value[f.offset:], f.kind.Size(), bitsOf(r, f.kind))
	}
}

func put(b []byte, size int, bits uint64) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], bits)
	copy(b, word[:size])
}

func get(b []byte, size int) uint64 {
	var word [8]byte
	copy(word[:], b[:size])
	return binary.LittleEndian.Uint64(word[:])
}

func bitsOf(r *rand.Rand, kind dtype.Type) uint64 {
	switch kind {
	case dtype.Bool:
		return uint64(r.IntN(2))
	case dtype.Float64:
		return math.Float64bits(float(r))
	case dtype.Float32:
		return uint64(math.Float32bits(float32(float(r))))
	case dtype.Float16:
		return uint64(dtype.F16From32(float32(float(r))))
	case dtype.BFloat16:
		return uint64(dtype.BF16From32(float32(float(r))))
	case dtype.Float8E4M3:
		return uint64(dtype.F8E4M3From32(float32(float(r))))
	case dtype.Float8E5M2:
		return uint64(dtype.F8E5M2From32(float32(float(r))))
	}
	return uint64(integer(r, 8*kind.Size()))
}

func float(r *rand.Rand) float64 {
	special := [...]float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e-40, 5e-324, 3e38, 1e300}
	if i := r.IntN(3 * len(special)); i < len(special) {
		return special[i]
	}
	return (r.Float64() - 0.5) * math.Exp(r.NormFloat64()*4)
}

func integer(r *rand.Rand, bits int) int64 {
	switch r.IntN(8) {
	case 0:
		return math.MinInt64 >> (64 - bits)
	case 1:
		return math.MaxInt64 >> (64 - bits)
	case 2:
		return int64(r.Uint64()) >> (64 - bits)
	default:
		return int64(r.IntN(25)) - 4
	}
}

// pack returns the leaves of n values, one after the other, all NaNs of a type alike.
func (l layout) pack(values []byte, n int) []byte {
	out := make([]byte, 0, n*l.size) // with room for what is between leaves
	for i := range n {
		for _, f := range l.leaves {
			size := f.kind.Size()
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], canonical(f.kind, get(values[i*l.size+f.offset:], size)))
			out = append(out, word[:size]...)
		}
	}
	return out
}

// canonical returns the bits of a number, or those of one NaN.
func canonical(kind dtype.Type, bits uint64) uint64 {
	nan := false
	switch kind {
	case dtype.Float64:
		nan = bits<<1 > 0x7ff<<53
	case dtype.Float32:
		nan = bits&0x7fffffff > 0x7f800000
	case dtype.Float16:
		nan = bits&0x7fff > 0x7c00
	case dtype.BFloat16:
		nan = bits&0x7fff > 0x7f80
	case dtype.Float8E4M3:
		nan = bits&0x7f == 0x7f
	case dtype.Float8E5M2:
		nan = bits&0x7f > 0x7c
	}
	if nan {
		return 1<<(8*kind.Size()-1) - 1
	}
	return bits
}
