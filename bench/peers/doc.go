// Package peers runs other frameworks beside a benchmark, each in a process that measures one run
// when it is asked, so that theirs and ours alternate on one GPU within milliseconds.
//
// They are PyTorch, Triton, CuPy and Numba, whose scripts are in this package and need python3, and NVIDIA's CUB, which nvcc
// compiles. What is not installed is told and left out.
//
//	set := peers.Start(ctx, peers.Options{NVCC: "nvcc"})
//	defer set.Close()
//	for _, p := range set.Peers {
//		if p.Has("add32") {
//			err := p.Prepare("add32", 1<<28) // random inputs, a run, its result checked
//			seconds, err := p.Round()        // the device's time of one run
//			err = p.End()
//		}
//	}
//
// What the cases mean is said in bench/suite, which measures them; peer.py says how a process is
// asked and answers. The package measures nothing itself.
package peers
