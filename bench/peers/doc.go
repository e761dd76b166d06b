// Package peers runs other frameworks for comparison with a benchmark. Each framework has a process of its own, which
// measures one run at a time. So the runs of a framework and ours can alternate on one GPU within milliseconds.
//
// The peers are PyTorch, Triton, CuPy and Numba, whose scripts are in this package and need python3, and NVIDIA's
// CUB, which nvcc compiles. Peers that are not installed are reported and left out.
//
//	set := peers.Start(ctx, peers.Options{NVCC: "nvcc"})
//	defer set.Close()
//	for _, p := range set.Peers {
//		if p.Has("add32") {
//			err := p.Prepare(ctx, "add32", 1<<28) // random inputs, a run, its result checked
//			took, err := p.Round(ctx)             // the time of one run on the device
//			err = p.End(ctx)
//		}
//	}
//
// Package bench/suite defines the cases and measures them with this package. The file peer.py describes the protocol
// between this package and the processes.
package peers
