// Package scalar implements the arithmetic of the PTX ISA for one thread: functions from the bits
// of the operands to the bits of the result, for a type and the instruction's modifiers.
//
// Operands and results have their value in the low bits; the bits above the type's width are zero.
// Float results are bit exact and correctly rounded in the mode of the modifier, including NaNs
// (single precision has one, 0x7fffffff; double precision keeps the first operand's payload).
// Approximations are computed in double precision and rounded: they are at least as accurate as the
// ISA requires, but not equal to the results of a GPU. The package does not handle registers, lanes
// or memory.
//
//	add, ok := scalar.FloatAdd(ptx.F32, scalar.Rounding{Mode: scalar.Nearest})
//	sum := add(0x3f800000, 0x40000000) // 1 + 2 = 0x40400000
package scalar
