// Package nccl lets GPUs exchange data with NVIDIA's NCCL, opened at run time where it is there:
// all GPUs of one process, or those of many processes that torchrun or its like has started.
//
//	where, err := nccl.Torchrun(os.Getenv)       // RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT
//	dev, err := cuda.Open(where.LocalRank)
//	s, err := dev.NewStream()
//	c, err := nccl.Join(ctx, s, where.Options)   // waits for all; the error names ranks that do not come
//	defer c.Close()
//	err = nccl.AllReduce(c, nccl.Sum, x.All(), x.All())
//	err = s.Synchronize(ctx)                     // a rank that ended, or hangs, is named here
//
// In one process:
//
//	comms, err := nccl.All(ctx, s0, s1)
//	err = nccl.Group(func() error { // all calls of the group begin together
//		return errors.Join(nccl.AllReduce(comms[0], ...), nccl.AllReduce(comms[1], ...))
//	}, comms...)
//
// Calls enqueue work on the communicator's stream, which then waits for the others' on the
// device. A rank whose process ends, or that does not come to a collective within
// Options.Timeout, is named in an error that sticks to the stream, and the communicator is
// aborted: work of the stream ends, and every later call returns the error.
//
// It needs NCCL 2.23 or later and devices of package cuda. Graphs cannot have its work.
package nccl
