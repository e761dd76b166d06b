// Package cpu is a device made of the machine's own cores: it runs the Go functions that
// kernels are, on every machine, without a GPU and without compiled code.
//
//	dev, err := cpu.Open()
//	s, err := dev.NewStream()
//	a, err := device.Upload(s, host)
//	err = kernels.Scale(s, device.Cover(n, 256), a.All(), 2)
//	err = device.Download(s, host, a)
//	err = s.Synchronize(ctx)
//
// The blocks of a launch are shared out over all cores. Within a block there are tiers:
//
//   - A kernel without barriers is a loop over the threads of the block.
//   - In a kernel whose threads wait for each other, all those of a block or those of a
//     warp, each is a coroutine; they take turns, each running to where it waits.
//   - Where a loop waits by atomic operations for what other threads write, the threads are
//     goroutines, and as many blocks run at once as there is room for.
//   - In a program built with -race the threads are goroutines, so that the race detector
//     finds a missing barrier: one for each where they wait or have shared memory,
//     32 for a block where it has neither.
//
// Threads of one block are not preempted in the first two tiers: a thread that waits for another of
// its block by reading plain memory, or by an operation that the compiler did not take for
// waiting, waits for ever. Each core has a stretch of the blocks, x counting fastest, and starts them in order; one
// that is done takes half of what another has left, from the end. Where threads wait in memory, all blocks start in order.
// The goroutines of a launch look out for the next for some 20 us, so that a row of launches does without waking any.
//
// A launch or copy is done when the call returns. A kernel cannot be stopped: one that never ends keeps
// the goroutine that launched it. Other goroutines may wait for its stream as long as their context
// allows. Closing the stream or the device waits some seconds for it, then returns an error that matches
// device.ErrRunning and names the kernel, which goes on until the program ends. Of the blocks of a launch that fault the
// one with the lowest index is reported, whatever the schedule; later blocks may not run. Where
// threads wait in memory, those that wait leave, and the fault is the first that happened.
//
// The device's memory is what the machine has, or less where control groups (containers) or resource limits of
// the process (ulimit -v, -d) say so. An allocation that the system would refuse is device.ErrMemory.
//
// It is not a compiler. Kernels bring functions for whole blocks, and vector code for AVX-512 and for AVX2 where the build could
// write any; VectorLanes says which of the two the machine runs.
package cpu
