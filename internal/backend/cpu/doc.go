// Package cpu generates the twin of a kernel from its IR: a Go function that runs whole blocks of
// threads, one after another, on a CPU.
//
//	t, err := cpu.Emit(f, cpu.Options{Func: "scaleTwin", ...})  // f has been through package pass
//	fmt.Println(t.Text)
//
// The twin is split at barriers: each region between barriers is a loop over the threads (after
// Stratton, Stone and Hwu, "MCUDA: An Efficient Implementation of CUDA Kernels for Multi-core
// CPUs"). Branches and loops that contain a barrier remain, with regions inside them. All threads
// must take them in the same way; otherwise there is no twin, and the error gives the reason. A
// kernel without barriers is one region.
//
// If the threads of a warp exchange values or synchronize, the same applies to each warp instead of the block: only the
// threads of a warp must take the branches around a shuffle in the same way. Each warp is then a state machine whose states
// are the regions; at a barrier of the block, the twin switches to the next warp (Han et al., "COX: Exposing CUDA Warp-Level
// Functions to CPUs", has loops over warps around the loops over lanes instead).
//
// The generated text is readable and fast:
//
//   - What is the same for all threads is computed once for the launch, the block, or a row of
//     threads, everything else where the kernel does.
//   - Local variables stay local; only what a thread needs after a barrier is in an array.
//   - Control flow is for, if, break, continue, and goto where these do not suffice.
//   - Memory is accessed without Go's checks: the kernel's own checks, which are in the IR, suffice. Pointers are kept as a base
//     and an offset, so that Go's collector sees only the kernel's own pointers.
//   - //line directives name the kernel's lines, for debuggers, profiles and faults.
//
// Emit works in steps: package layout gives the control flow a fixed shape, divides it at the barriers, and decides where each
// value is computed and kept; block.go and thread.go write the loops, flow.go, machine.go and warp.go the state machines of
// warps, and the other files statements and expressions.
//
// A region whose threads access neighbouring memory is also generated as vector code, by package vector, once for each of
// the units of package units, in the assembly language of package vasm. The twin calls the vector code that the machine supports,
// according to Blocks.Lanes, and continues after the threads that it has run.
//
// The results of the twin are those of the IR, bit for bit: products are rounded before they are added. The only exception is the
// conversion of a float that is out of range of an integer type, which has the result of the kernel's Go code. Package cpu in the
// module's root distributes blocks over cores.
package cpu
