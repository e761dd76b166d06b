// Package pass transforms kernels between the frontend and the back ends: it inlines all calls,
// splits aggregates, promotes locals to registers and optimizes the result.
//
//	f, err := pass.Compile(module.Func("multiply"), pass.Options{Contract: true})
//
// Each pass is a function that transforms an IR function; passes of one family share a file. The
// pipeline in pipeline.go is the list of passes, with the reasons for their order. Passes do not call
// each other, and do not verify, dump or measure; Compile does. Analyses are in package analysis.
//
// A back end may rely on the following: the function has no calls, no unreachable blocks, and only values
// of scalar types, except that allocas may have any type; allocas are in the entry block. An alloca with
// Imm 1 need not be zeroed. Pointers have their inferred address space or are generic; a bitcast between
// pointers converts between address spaces. With Options.Wide or Options.Coarse there are also loads and
// stores of arrays of 2 or 4 scalars, at multiples of their size; these values are only used by extract
// and only created by struct. All float arithmetic that may be fused is already an fma.
package pass
