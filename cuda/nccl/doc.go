// Package nccl lets GPUs exchange data with each other through NVIDIA's library NCCL, which it opens at run time. The
// GPUs belong to one process, or to several processes that torchrun or a similar launcher has started.
//
//	where, err := nccl.Torchrun(os.Getenv)       // RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT
//	dev, err := cuda.Open(where.LocalRank)
//	s, err := dev.NewStream()
//	c, err := nccl.Join(ctx, s, where.Options)   // waits for all ranks; the error names missing ranks
//	defer c.Close()
//	err = nccl.AllReduce(c, nccl.Sum, x.All(), x.All())
//	err = s.Synchronize(ctx)                     // the error names a rank that ended or hangs
//
// In one process:
//
//	comms, err := nccl.All(ctx, s0, s1)
//	err = nccl.Group(func() error { // all collectives of the group start together
//		return errors.Join(nccl.AllReduce(comms[0], ...), nccl.AllReduce(comms[1], ...))
//	}, comms...)
//
// A collective enqueues work on the communicator's stream. On the device, this work waits for the streams of the other
// ranks. If the process of a rank ends, or if a rank does not reach a collective within Options.Timeout, the package
// aborts the communicator. The work of the stream then ends, and Synchronize and every later collective return an error
// that names the rank.
//
// The package needs NCCL 2.23 or later and devices of package cuda. Graphs cannot record collectives.
package nccl
