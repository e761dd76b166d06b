package ptxspirv

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

func (t *translator) boolean() spirv.ID { return t.Type(spirv.OpTypeBool) }
func (t *translator) u32() spirv.ID     { return t.Type(spirv.OpTypeInt, 32, 0) }
func (t *translator) u64() spirv.ID     { return t.Type(spirv.OpTypeInt, 64, 0) }
func (t *translator) f32() spirv.ID     { return t.Type(spirv.OpTypeFloat, 32) }

func (t *translator) f64() spirv.ID {
	t.doubles = true
	t.use(spirv.CapabilityFloat64)
	return t.Type(spirv.OpTypeFloat, 64)
}

// unsigned returns the integer type of a size in bytes.
func (t *translator) unsigned(size int) spirv.ID {
	switch size {
	case 1:
		t.use(spirv.CapabilityInt8)
	case 2:
		t.use(spirv.CapabilityInt16)
	}
	return t.Type(spirv.OpTypeInt, uint32(8*size), 0)
}

// float returns the floating-point type of a size in bytes, 4 or 8.
func (t *translator) float(size int) spirv.ID {
	if size == 8 {
		return t.f64()
	}
	return t.f32()
}

func (t *translator) pointer(storage uint32, to spirv.ID) spirv.ID {
	return t.Type(spirv.OpTypePointer, storage, to)
}

func (t *translator) word(v uint32) spirv.ID { return t.Constant(t.u32(), v) }
func (t *translator) wide(v uint64) spirv.ID { return t.Constant(t.u64(), uint32(v), uint32(v>>32)) }

// number returns the constant with the bits of an integer type of 4 or 8 bytes.
func (t *translator) number(size int, v uint64) spirv.ID {
	if size == 8 {
		return t.wide(v)
	}
	return t.word(uint32(v))
}

// real returns a floating-point constant.
func (t *translator) real(size int, v float64) spirv.ID {
	if size == 8 {
		bits := math.Float64bits(v)
		return t.Constant(t.f64(), uint32(bits), uint32(bits>>32))
	}
	return t.Constant(t.f32(), math.Float32bits(float32(v)))
}

// register returns the type of a register's variable: bool, u32 for up to 32 bits, or u64.
func (t *translator) register(typ ptx.Type) spirv.ID {
	switch {
	case typ == ptx.Pred:
		return t.boolean()
	case typ.Size() <= 4:
		return t.u32()
	}
	return t.u64()
}

// held returns the number of bytes of the values that hold a type: 4 or 8.
func held(typ ptx.Type) int { return max(4, typ.Size()) }

// widened returns a value of 32 bits as an unsigned number of a size.
func (t *translator) widened(size int, v spirv.ID) spirv.ID {
	if size == 8 {
		return t.op(spirv.OpUConvert, ptx.U64, v)
	}
	return v
}
