package weights

import (
	"fmt"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// Type is the type of a tensor's elements: a number, or a format of quantized blocks.
type Type uint8

// The types, named as in files. The types from F64 to I8 occur in files of both formats, the types from U64 to C64 only in safetensors
// files, and the types from Q4_0 on only in GGUF files.
const (
	Invalid Type = iota
	F64
	F32
	F16
	BF16
	I64
	I32
	I16
	I8
	U64
	U32
	U16
	U8
	BOOL
	F8_E4M3
	F8_E5M2
	F8_E8M0
	F6_E2M3
	F6_E3M2
	F4
	C64
	Q4_0
	Q4_1
	Q5_0
	Q5_1
	Q8_0
	Q8_1
	Q2_K
	Q3_K
	Q4_K
	Q5_K
	Q6_K
	Q8_K
	IQ1_S
	IQ1_M
	IQ2_XXS
	IQ2_XS
	IQ2_S
	IQ3_XXS
	IQ3_S
	IQ4_NL
	IQ4_XS
	TQ1_0
	TQ2_0
	MXFP4
	NVFP4
	Q1_0
)

// types has a row for each Type: its name, the elements and bytes of a block, and its element type if kernels have one.
var types = [...]struct {
	name            string
	elements, bytes int
	element         dtype.Type
}{
	Invalid: {"invalid", 1, 0, dtype.Invalid},
	F64:     {"F64", 1, 8, dtype.Float64},
	F32:     {"F32", 1, 4, dtype.Float32},
	F16:     {"F16", 1, 2, dtype.Float16},
	BF16:    {"BF16", 1, 2, dtype.BFloat16},
	I64:     {"I64", 1, 8, dtype.Int64},
	I32:     {"I32", 1, 4, dtype.Int32},
	I16:     {"I16", 1, 2, dtype.Int16},
	I8:      {"I8", 1, 1, dtype.Int8},
	U64:     {"U64", 1, 8, dtype.Uint64},
	U32:     {"U32", 1, 4, dtype.Uint32},
	U16:     {"U16", 1, 2, dtype.Uint16},
	U8:      {"U8", 1, 1, dtype.Uint8},
	BOOL:    {"BOOL", 1, 1, dtype.Bool},
	F8_E4M3: {"F8_E4M3", 1, 1, dtype.Float8E4M3},
	F8_E5M2: {"F8_E5M2", 1, 1, dtype.Float8E5M2},
	F8_E8M0: {"F8_E8M0", 1, 1, dtype.Invalid},
	F6_E2M3: {"F6_E2M3", 4, 3, dtype.Invalid},
	F6_E3M2: {"F6_E3M2", 4, 3, dtype.Invalid},
	F4:      {"F4", 2, 1, dtype.Invalid},
	C64:     {"C64", 1, 8, dtype.Invalid},
	Q4_0:    {"Q4_0", 32, 18, dtype.Invalid},
	Q4_1:    {"Q4_1", 32, 20, dtype.Invalid},
	Q5_0:    {"Q5_0", 32, 22, dtype.Invalid},
	Q5_1:    {"Q5_1", 32, 24, dtype.Invalid},
	Q8_0:    {"Q8_0", 32, 34, dtype.Invalid},
	Q8_1:    {"Q8_1", 32, 40, dtype.Invalid},
	Q2_K:    {"Q2_K", 256, 84, dtype.Invalid},
	Q3_K:    {"Q3_K", 256, 110, dtype.Invalid},
	Q4_K:    {"Q4_K", 256, 144, dtype.Invalid},
	Q5_K:    {"Q5_K", 256, 176, dtype.Invalid},
	Q6_K:    {"Q6_K", 256, 210, dtype.Invalid},
	Q8_K:    {"Q8_K", 256, 292, dtype.Invalid},
	IQ1_S:   {"IQ1_S", 256, 50, dtype.Invalid},
	IQ1_M:   {"IQ1_M", 256, 56, dtype.Invalid},
	IQ2_XXS: {"IQ2_XXS", 256, 66, dtype.Invalid},
	IQ2_XS:  {"IQ2_XS", 256, 74, dtype.Invalid},
	IQ2_S:   {"IQ2_S", 256, 82, dtype.Invalid},
	IQ3_XXS: {"IQ3_XXS", 256, 98, dtype.Invalid},
	IQ3_S:   {"IQ3_S", 256, 110, dtype.Invalid},
	IQ4_NL:  {"IQ4_NL", 32, 18, dtype.Invalid},
	IQ4_XS:  {"IQ4_XS", 256, 136, dtype.Invalid},
	TQ1_0:   {"TQ1_0", 256, 54, dtype.Invalid},
	TQ2_0:   {"TQ2_0", 256, 66, dtype.Invalid},
	MXFP4:   {"MXFP4", 32, 17, dtype.Invalid},
	NVFP4:   {"NVFP4", 64, 36, dtype.Invalid},
	Q1_0:    {"Q1_0", 128, 18, dtype.Invalid},
}

// ParseType returns the type with the given name and reports whether there is one.
func ParseType(name string) (Type, bool) {
	for t, f := range types {
		if Type(t) != Invalid && f.name == name {
			return Type(t), true
		}
	}
	return Invalid, false
}

// String returns the name of the type, such as "BF16" or "Q4_K".
func (t Type) String() string { return types[t.row()].name }

// Block returns the number of elements in a block and its size in bytes. For most types of numbers, a block is one element.
func (t Type) Block() (elements, bytes int) { return types[t.row()].elements, types[t.row()].bytes }

// DType returns the dtype.Type with the same representation, or dtype.Invalid if there is none.
func (t Type) DType() dtype.Type { return types[t.row()].element }

// row returns the row of types that describes t.
func (t Type) row() Type {
	if int(t) >= len(types) {
		return Invalid
	}
	return t
}

// Size returns the size of n elements in bytes. It returns an error that matches ErrFormat if n is not a multiple of the elements of a
// block, or if the size exceeds an int.
func (t Type) Size(n int) (int, error) {
	elements, bytes := t.Block()
	if bytes == 0 || n < 0 || n%elements != 0 {
		return 0, fmt.Errorf("%w: %d elements of type %s, whose blocks have %d", ErrFormat, n, t, elements)
	}
	size, ok := product(n/elements, bytes)
	if !ok {
		return 0, fmt.Errorf("%w: the size of %d elements of type %s overflows", ErrFormat, n, t)
	}
	return size, nil
}

// product returns a*b for a and b that are not negative, and reports whether an int can represent it.
func product(a, b int) (int, bool) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int(low), high == 0 && uint64(int(low)) == low && int(low) >= 0
}
