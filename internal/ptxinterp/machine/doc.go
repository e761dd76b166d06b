// Package machine executes PTX kernels on the CPU, as NVIDIA's PTX ISA manual defines them:
// grids of blocks of threads, warps of 32 that diverge and meet again, barriers, atomics,
// state spaces with bounds.
//
//	mem := machine.NewMemory()
//	x, err := mem.Allocate(4096)
//	mod, err := machine.Load(text, mem)
//	k, err := mod.Kernel("scale")
//	stats, err := k.Run(machine.Launch{Grid: [3]int{4, 1, 1}, Block: [3]int{256, 1, 1}, Params: params})
//
// Always checked: bounds and alignment of every access, freed memory, divergence at
// barriers, deadlock, an instruction budget. What a check finds is an *Error with kernel, line, block and
// thread, and ends the launch. A memory made with Checks is watched for more (watch.go): data races, which package race
// decides, and reads of what nobody has written. What they find is in Stats, and the launch goes on. Contents that nobody wrote (registers, shared, local and fresh global memory) are all ones, a NaN.
//
// # How it runs
//
// A function is decoded once into a slice of instr. A warp executes an instruction for all
// threads that stand at it before the next one: registers are rows of 32 slots, predicates are
// masks of 32 bits. Threads at different places form groups; the group that is deepest in calls and there
// lowest in the code runs first, so that the others wait where paths join and the groups merge. Each
// warp runs until it blocks or its quantum is used, then the next one of any resident block,
// in a fixed order or, with a seed, a random one. One goroutine does it all, so a launch always gives the
// same result, atomics of floats included.
//
// It is not a model of time: there are no caches, banks or latencies, but package traffic counts
// what accesses would cost. Memory is sequentially consistent: fences count in the search for races only. The clock counts instructions.
package machine
