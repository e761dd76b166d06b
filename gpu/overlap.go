package gpu

// AwaitPrevious waits until all kernels that precede this one in its stream, or in its graph, are done.
// Their writes are visible to the thread afterwards.
//
// A kernel that calls AwaitPrevious may start while the preceding kernel is running, on GPUs of compute
// capability 9.0 or later. Several preceding kernels may still be running. Before the call, a thread may
// read only memory that none of these kernels writes, such as the weights of a model. The thread must
// not write to any buffer before the call, not even to a new one, because the memory of a new buffer may
// be that of a closed buffer that the preceding kernels still use. A thread that leaves the kernel
// without a call of AwaitPrevious waits at the exit. After the first call, further calls return at once.
//
// Copies, fills and kernels that do not call AwaitPrevious start when all preceding work is done. On other GPUs, on the
// CPU and in the interpreter, all kernels start when all preceding work is done, and AwaitPrevious has no effect.
func (t Thread) AwaitPrevious() {}

// StartNext allows the next kernel of the stream to start before this kernel is done, if the next kernel
// calls AwaitPrevious. The next kernel starts when the threads of every block have called StartNext or left this
// kernel, and the GPU has room. Without StartNext, it starts when all blocks are done. StartNext does not publish
// writes: the next kernel's AwaitPrevious waits for the end of this kernel.
//
// Most kernels call StartNext at their beginning. Waiting blocks of the next kernel take registers and
// shared memory, but only after all blocks of this kernel have started.
func (t Thread) StartNext() {}
