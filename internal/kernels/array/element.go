package array

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// floats are the elements of an array of half precision, or of one of float32.
type floats struct {
	half   []uint16
	single []float32
}

// load returns element i.
func (f *floats) load(of dtype.Type, i uint32) float32 {
	switch of {
	case dtype.Float32:
		return f.single[i]
	case dtype.Float16:
		return dtype.F16(f.half[i]).Float32()
	}
	return widened(f.half[i])
}

// widened returns a bfloat16 of the given bits.
func widened(bits uint16) float32 { return math.Float32frombits(uint32(bits) << 16) }

// store rounds v to element i.
func (f *floats) store(of dtype.Type, i uint32, v float32) {
	switch of {
	case dtype.Float32:
		f.single[i] = v
	case dtype.Float16:
		f.half[i] = uint16(dtype.F16From32(v))
	default:
		f.half[i] = bfloat16(v)
	}
}

// bfloat16 returns the bits of x as a bfloat16. The instruction that dtype.BF16From32 becomes exists only on some GPUs, so that a kernel
// would be compiled for these and for the others.
func bfloat16(x float32) uint16 {
	bits := math.Float32bits(x)
	if x != x {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// integers are the elements of an array of uint8 or bool, of one of int32, or of one of int64.
type integers struct {
	bytes []uint8
	words []int32
	longs []int64
}

// load returns element i.
func (n *integers) load(of dtype.Type, i uint32) int64 {
	switch of {
	case dtype.Int32:
		return int64(n.words[i])
	case dtype.Int64:
		return n.longs[i]
	}
	return int64(n.bytes[i])
}

// store stores the low bits of v in element i, or in one of booleans whether v is not 0.
func (n *integers) store(of dtype.Type, i uint32, v int64) {
	switch of {
	case dtype.Int32:
		n.words[i] = int32(v)
	case dtype.Int64:
		n.longs[i] = v
	case dtype.Bool:
		n.bytes[i] = uint8(truth[int64](v != 0))
	default:
		n.bytes[i] = uint8(v)
	}
}
