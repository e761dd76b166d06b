// Package cpu provides a device that consists of the machine's processor cores. It runs kernels on every machine,
// without a GPU. For a kernel with generated code for the CPU, the device runs that code; for any other
// kernel, the device calls the kernel's Go function for each thread.
//
//	dev, err := cpu.Open()
//	s, err := dev.NewStream()
//	a, err := device.Upload(s, host)
//	err = kernels.Scale(s, device.Cover(n, 256), a.All(), 2)
//	err = device.Download(s, host, a)
//	err = s.Synchronize(ctx)
//
// The blocks of a launch are distributed over all cores. How the threads of a block run depends on the
// kernel:
//
//   - A kernel without barriers runs as a loop over the threads of the block.
//   - In a kernel whose threads wait for each other, at barriers of a block or in operations of a warp,
//     each thread is a coroutine. The coroutines take turns; each runs until it must wait.
//   - If threads wait in a loop, with atomic operations, for values that other threads write, each thread
//     is a goroutine, and as many blocks as possible run at the same time.
//   - In a program built with -race, threads run on goroutines, so that the race detector
//     finds a missing barrier. If threads wait for each other or have shared memory, each thread has a
//     goroutine; otherwise, each block has 32 goroutines.
//
// In the first two cases, threads of a block are not preempted. So a thread that polls plain memory, which another
// thread of its block should write, waits forever, as does a thread that waits in a way that the compiler did not
// recognize.
//
// A launch or copy is done when the call returns. A kernel cannot be stopped. A kernel that never ends blocks the
// goroutine that launched it. Other goroutines may wait for its stream until their contexts are done. Closing the
// stream or the device waits for the kernel for five seconds, and then returns an error that matches device.ErrRunning;
// the kernel continues until the program ends.
//
// If several blocks of a launch fault, the device reports the fault of the block with the lowest index, regardless of
// the order in which the blocks ran. Blocks with higher indices may be skipped. If threads poll memory (the third
// case), a fault ends the polling threads, and the device reports the fault that happened first.
//
// The device has as much memory as the machine, or less if control groups (containers) or resource limits (ulimit -v,
// -d) limit the memory of the process. An allocation that the system would refuse returns device.ErrMemory. On Linux,
// Device.Room returns at most the memory that the system has available: free memory and the cache of files. On other
// systems, the free memory is unknown.
//
// Package compile generates the code that this package runs: functions that run whole blocks and, for kernels that the
// compiler could vectorize, vector code for AVX-512 and for AVX2.
package cpu
