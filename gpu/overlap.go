package gpu

// AwaitPrevious waits until all kernels that precede this one in its stream, or in its graph, are done.
// Their writes are visible to the thread afterwards.
//
// A kernel that calls AwaitPrevious may start while the preceding kernel is running, on GPUs of compute
// capability 9.0 or later. What it does before the call overlaps with the end of the preceding kernel.
// Before the call, a thread may read only memory that none of the preceding kernels writes, such as the
// weights of a model: several of them may be running. And it may write to no buffer: a new buffer may have
// the memory of a closed one, which the preceding kernels may still use. A thread that leaves the kernel
// without a call of AwaitPrevious waits at the exit. After the first call, further calls return at once.
//
// Copies, fills and kernels that do not call AwaitPrevious start when all preceding work is done, and so
// do all kernels on other GPUs, the CPU and the interpreter. There, AwaitPrevious does nothing.
func (t Thread) AwaitPrevious() {}

// StartNext allows the next kernel of the stream to start, if that kernel calls AwaitPrevious: as soon
// as the threads of every block have called StartNext or left the kernel, and the GPU has room. Without
// StartNext, the next kernel starts when all blocks are done. StartNext publishes no writes: the next
// kernel's AwaitPrevious waits for the end of this kernel.
//
// Most kernels call StartNext first: the blocks of the next kernel that wait take registers and
// shared memory, but by then all blocks of this kernel have started.
func (t Thread) StartNext() {}
