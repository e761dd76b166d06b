// Package pass transforms kernels between the frontend and the back ends: it makes one
// function of a kernel and all it calls, splits aggregates, brings locals into registers and
// makes the rest cheaper.
//
//	f, err := pass.Compile(module.Func("multiply"), pass.Options{Contract: true})
//
// Each transformation is a file with one function of a function; the pipeline in
// pipeline.go is the list of them, with the reasons for its order. The passes know nothing of
// verification, dumps and timing: Compile does that. Facts that change nothing are derived in
// package analysis.
//
// What a back end may rely on afterwards: the function has no calls, no unreachable blocks,
// and values of scalar types only, but for the types of allocas; allocas stand in the entry
// block. An alloca with Imm 1 need not be zeroed. Pointers have the address space that they
// were found to point into, or are generic; a bitcast between pointers converts from one
// space to another. With Options.Wide or Options.Coarse there are also loads and stores of arrays of 2 or 4
// scalars, at multiples of their size; the values are taken apart by extract and put together
// by struct, and serve nothing else. All float arithmetic that may fuse is an fma already.
package pass
