package numbers

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// resized has conversions between integers.
type resized struct {
	ToInt8, Int8ToInt, Int8ToUint, Int8ToUint8, Int8ToUint64     int64
	ToInt16, Int16ToInt32, Int16ToUint32, ToInt32, Int32ToUint64 int64
	ToUint8, Uint8ToInt, Uint8ToInt8, ToUint16, Uint16ToInt8     int64
	ToUint32, Uint32ToInt, Uint32ToInt32, ToUint64, Uint64ToInt  int64
	ThereAndBack, NarrowedSum, WidenedSum, ByteSum, MixedWidths  int64
	SignedIndex, UnsignedIndex, BoolToInt, NamedType, Uintptr    int64
}

// level is an integer type with a name.
type level int16

func resize(x int64) (r resized) {
	i8, i16, i32, u8, u16, u32, u64 := int8(x), int16(x), int32(x), uint8(x), uint16(x), uint32(x), uint64(x)
	r.ToInt8, r.Int8ToInt, r.Int8ToUint = int64(i8), int64(int(i8)), int64(uint(i8))
	r.Int8ToUint8, r.Int8ToUint64 = int64(uint8(i8)), int64(uint64(i8)>>3)
	r.ToInt16, r.Int16ToInt32, r.Int16ToUint32 = int64(i16), int64(int32(i16)), int64(uint32(i16))
	r.ToInt32, r.Int32ToUint64 = int64(i32), int64(uint64(i32)/3)
	r.ToUint8, r.Uint8ToInt, r.Uint8ToInt8 = int64(u8), int64(int(u8)), int64(int8(u8))
	r.ToUint16, r.Uint16ToInt8 = int64(u16), int64(int8(u16))
	r.ToUint32, r.Uint32ToInt, r.Uint32ToInt32 = int64(u32), int64(int(u32)), int64(int32(u32))
	r.ToUint64, r.Uint64ToInt = int64(u64/2), int64(int(u64))
	r.ThereAndBack = int64(int8(uint16(int32(uint8(x)))))
	r.NarrowedSum, r.WidenedSum = int64(i8+int8(u16)), int64(i8)+int64(u16)
	r.ByteSum = int64(u8+u8) + int64(i8*2)
	r.MixedWidths = int64(i16)*int64(u32) - int64(u8)<<(i8&7)
	table := [4]int64{5, 6, 7, 8}
	r.SignedIndex, r.UnsignedIndex = table[i8&3], table[u64%4]
	if x > 3 {
		r.BoolToInt = 1
	}
	r.NamedType = int64(level(x) + level(i8))
	r.Uintptr = int64(uintptr(x) >> 1)
	return r
}

//gpu:kernel
func resizes(t gpu.Thread, in []int64, out []resized) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = resize(in[i])
	}
}

// toFloat has conversions of integers to floats, which round to the nearest.
type toFloat struct {
	Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64             float32
	Int32To64, Int64To64, Uint32To64, Uint64To64, Narrow, NarrowAndWiden float64
}

func toFloats(x int64) toFloat {
	return toFloat{
		Int8: float32(int8(x)), Int16: float32(int16(x)), Int32: float32(int32(x)), Int64: float32(x),
		Uint8: float32(uint8(x)), Uint16: float32(uint16(x)), Uint32: float32(uint32(x)), Uint64: float32(uint64(x)),
		Int32To64: float64(int32(x)), Int64To64: float64(x), Uint32To64: float64(uint32(x)), Uint64To64: float64(uint64(x)),
		Narrow: float64(float32(float64(x))), NarrowAndWiden: float64(float32(x)),
	}
}

//gpu:kernel
func convertToFloats(t gpu.Thread, in []int64, out []toFloat) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = toFloats(in[i])
	}
}

// fromFloat has conversions of floats that fit to integers, which cut the fraction off.
type fromFloat struct {
	Int8, Int16, Int32, Int64, Negative int64
	Uint8, Uint16, Uint32, Uint64       uint64
	FromFloat32, OfFloor, OfHalf        int64
	Narrowed                            float32
	Bits32                              uint32
	Bits64                              uint64
	FromBits32                          float32
	FromBits64                          float64
}

func fromFloats(x float64) fromFloat {
	return fromFloat{
		Int8: int64(int8(x)), Int16: int64(int16(x * 100)), Int32: int64(int32(x * 1e6)), Int64: int64(x * 1e15), Negative: int64(-x * 7),
		Uint8: uint64(uint8(x)), Uint16: uint64(uint16(x * 300)), Uint32: uint64(uint32(x * 1e7)), Uint64: uint64(x * 1e17),
		FromFloat32: int64(float32(x) * 10), OfFloor: int64(math.Floor(-x)), OfHalf: int64(x + 0.5),
		Narrowed: float32(x), Bits32: math.Float32bits(float32(x)), Bits64: math.Float64bits(x),
		FromBits32: math.Float32frombits(uint32(x*1e6) | 0x3f800000), FromBits64: math.Float64frombits(math.Float64bits(x) ^ 1<<63),
	}
}

//gpu:kernel
func convertFromFloats(t gpu.Thread, in []float64, out []fromFloat) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = fromFloats(in[i])
	}
}
