// Package scalar says what the arithmetic of the PTX ISA computes for one thread: functions
// from the bits of the operands to the bits of the result, built for a type and the
// instruction's modifiers.
//
// Operands hold their value in the low bits, the bits above the type's width zero; results
// are the same. Float results are correctly rounded as the modifier says and bit exact, NaNs included
// (single precision has one, 0x7fffffff; double precision keeps the first operand's payload),
// except in the approximations, which are computed in double precision and rounded: they are
// at least as near to the true value as the ISA asks, not equal to what a GPU gives.
// There are no registers, lanes or memory here.
//
//	add, ok := scalar.FloatAdd(ptx.F32, scalar.Rounding{Mode: scalar.Nearest})
//	sum := add(0x3f800000, 0x40000000) // 1 + 2 = 0x40400000
package scalar
