// Package traffic counts the cost of a warp's memory accesses on a GPU, sectors of global memory and passes over
// the banks of shared memory, and the minimum for each.
//
//	var c traffic.Counts
//	c.OnGlobal(&addresses, mask, 4) // a load of 4 bytes by the threads of mask
//	c.OnShared(&addresses, mask, 4)
//	fmt.Println(c.Sectors, c.SectorsLeast, c.Passes, c.PassesLeast)
//
// Neighbouring threads that read neighbouring words need 4 sectors of 32 bytes for 32 words of 4;
// threads that read a column of a matrix need 32. Threads whose words are in the same bank of
// shared memory are served one after another.
//
// It counts requests, not time. It does not model caches or other warps.
package traffic
