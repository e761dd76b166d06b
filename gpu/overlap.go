package gpu

// AwaitPrevious waits until all kernels that precede this one in its stream, or in its graph, are done.
// Their writes are visible to the thread afterwards.
//
// On GPUs of compute capability 9.0 or later, a kernel that calls AwaitPrevious may start while preceding kernels are
// still running. Before the call, a thread may read only memory that none of these kernels writes, such as the weights
// of a model. It must not write to any buffer, not even to a new buffer, which may have the memory of a closed buffer
// that preceding kernels still use. If a thread of such a kernel returns without having called AwaitPrevious, it waits
// for the preceding kernels before it exits. After the first call, further calls return at once.
//
// A copy, a fill, or a kernel without AwaitPrevious starts when all preceding work is done. On other GPUs, on the CPU
// and in the interpreter, AwaitPrevious has no effect, because all kernels start when all preceding work is done.
func (t Thread) AwaitPrevious() {}

// StartNext allows the next kernel of the stream to start before this kernel is done, if the next kernel
// calls AwaitPrevious. The next kernel starts when the threads of every block have called StartNext or left this
// kernel, and the GPU has room. Without StartNext, it starts when all blocks are done. StartNext does not publish
// writes: the next kernel's AwaitPrevious waits for the end of this kernel.
//
// Most kernels call StartNext at their beginning. Waiting blocks of the next kernel take registers and
// shared memory, but only after all blocks of this kernel have started.
func (t Thread) StartNext() {}
