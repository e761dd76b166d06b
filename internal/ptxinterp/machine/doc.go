// Package machine executes PTX kernels on the CPU as NVIDIA's PTX ISA manual defines them: grids of
// blocks of threads, warps of 32 threads that diverge and reconverge, barriers, atomics, and
// bounded state spaces.
//
//	mem := machine.NewMemory()
//	x, err := mem.Allocate(4096)
//	mod, err := machine.Load(text, mem)
//	k, err := mod.Kernel("scale")
//	stats, err := k.Run(machine.Launch{Grid: [3]int{4, 1, 1}, Block: [3]int{256, 1, 1}, Params: params})
//
// The machine always checks the bounds and alignment of every access, freed memory, divergence at barriers, deadlocks, and an
// instruction budget. If such a check fails, the launch ends with an *Error, which contains kernel, line, block and thread. A
// memory created with Checks is also watched (watch.go) for data races, which package race detects, and for reads of
// uninitialized memory. These findings are in Stats and do not end the launch. Uninitialized registers and memory contain all
// ones, a NaN.
//
// # How it runs
//
// A function is decoded once into a slice of instr. A warp executes an instruction for all its threads at
// that position before it continues: registers are rows of 32 slots, predicates are masks of 32 bits. Registers
// whose values no thread needs at the same time share a row (registers.go).
// Threads at different positions form groups. The group with the deepest call stack, and among these the
// lowest position, runs first, so that the other groups wait where paths join and merge with it. Each
// warp runs until it blocks or has used its quantum. Then the next warp of any resident block runs, in a
// fixed order or, with a seed, in a random order. A launch runs in one goroutine, so it always has the
// same result, including atomic operations on floats.
//
// The machine does not model time: there are no caches, banks or latencies, but package traffic counts the cost of accesses.
// Memory is sequentially consistent; fences only affect race detection. The clock counts instructions.
package machine
