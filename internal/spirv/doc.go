// Package spirv builds SPIR-V modules of compute shaders, as Khronos' specification of SPIR-V 1.5 defines them.
//
//	b := spirv.New()
//	u32 := b.Type(spirv.OpTypeInt, 32, 0)
//	sum := b.Value(spirv.OpIAdd, u32, x, y) // emits an instruction and returns its result
//	words := b.Module(entry)
//
// A Builder keeps the sections of a module apart, declares each type and each constant once, and adds the capabilities that
// operations name. It does not check operands: spirv-val does, in the tests of the packages that use it.
package spirv
