// Package cpu writes the Go twin of a kernel of the IR: a Go function that runs whole blocks of
// threads, one after another, on a CPU.
//
//	t, err := cpu.Emit(f, cpu.Options{Func: "scaleTwin", ...})  // f has been through package pass
//	fmt.Println(t.Text)
//
// Where the kernel's threads wait for each other, the twin's code is split there: each piece is a
// loop over the threads (after Stratton, Stone and Hwu, "MCUDA: An Efficient Implementation of
// CUDA Kernels for Multi-core CPUs"). Branches and loops around a barrier stay what they
// are, around those pieces; all threads have to take them alike, or there is no twin and the
// error says why. Of a kernel whose threads do not wait there is one piece.
//
// Where the threads of a warp exchange numbers, or wait for each other, all that is so for each warp instead
// of the block: branches around a shuffle have to be taken alike by the threads of a warp only. A warp is
// a state machine whose states are the pieces; at a barrier of the block the next warp has its turn
// (Han et al., "COX: Exposing CUDA Warp-Level Functions to CPUs", has loops over warps around the loops over lanes instead).
//
// The text is made to be read and to be fast:
//
//   - What is the same for all threads is computed once for the launch, the block, or a row of
//     threads, everything else where the kernel does.
//   - Local variables stay local; only what a thread needs behind a barrier is in an array.
//   - Control flow is for, if, break and continue; a goto stands where those do not do.
//   - Memory is accessed without Go's checks: the kernel's own, which are in the IR, suffice.
//     Pointers are kept as a base and an offset, so that Go's collector sees no others than
//     the kernel has.
//   - //line directives name the kernel's lines, for debuggers, profiles and faults.
//
// Emit works in steps, a file each: prepare.go gives the control flow a fixed shape, region.go
// cuts it at the barriers, place.go, keep.go and inline.go decide where each value is computed and
// kept, block.go and thread.go write the loops by graph.go and flow.go, machine.go and
// warp.go do for warps, and the rest writes statements and expressions.
//
// A region whose threads read and write neighbouring memory is also written as vector code, once for each unit: plan says what
// lanes do together, vectorizer turns that into operations, and unit into the instructions of a processor.
// The twin calls what Blocks.Lanes says the machine can run, and goes on behind what that has done.
//
// The twin computes what the IR says, bit for bit: products are rounded before they are
// added. Only a float that fits no integer becomes what it does in the kernel's own Go code. It is not told how blocks are shared out over
// cores; package cpu of the module's root does that.
package cpu
