package gpu

import "unsafe"

// ClusterX returns the index of the thread's cluster in the grid along x. The launch determines
// which blocks form a cluster (the field Cluster of device.Grid, or the directive //gpu:cluster);
// by default, each block is a cluster of its own. Clusters of several blocks require compute
// capability 9.0.
func (t Thread) ClusterX() int { return t.block.Index[0] / t.ClusterDimX() }

// ClusterY returns the index of the thread's cluster in the grid along y.
func (t Thread) ClusterY() int { return t.block.Index[1] / t.ClusterDimY() }

// ClusterZ returns the index of the thread's cluster in the grid along z.
func (t Thread) ClusterZ() int { return t.block.Index[2] / t.ClusterDimZ() }

// ClusterDimX returns the number of blocks in a cluster along x.
func (t Thread) ClusterDimX() int { return t.block.ClusterBlocks()[0] }

// ClusterDimY returns the number of blocks in a cluster along y.
func (t Thread) ClusterDimY() int { return t.block.ClusterBlocks()[1] }

// ClusterDimZ returns the number of blocks in a cluster along z.
func (t Thread) ClusterDimZ() int { return t.block.ClusterBlocks()[2] }

// ClusterBlockX returns the index of the thread's block in its cluster along x.
func (t Thread) ClusterBlockX() int { return t.block.Index[0] % t.ClusterDimX() }

// ClusterBlockY returns the index of the thread's block in its cluster along y.
func (t Thread) ClusterBlockY() int { return t.block.Index[1] % t.ClusterDimY() }

// ClusterBlockZ returns the index of the thread's block in its cluster along z.
func (t Thread) ClusterBlockZ() int { return t.block.Index[2] % t.ClusterDimZ() }

// ClusterRank returns the linear index of the thread's block in its cluster, where x varies
// fastest. Peer identifies blocks by their ranks.
func (t Thread) ClusterRank() int {
	return t.ClusterBlockX() + t.ClusterDimX()*(t.ClusterBlockY()+t.ClusterDimY()*t.ClusterBlockZ())
}

// ClusterSize returns the number of blocks in a cluster.
func (t Thread) ClusterSize() int { return t.ClusterDimX() * t.ClusterDimY() * t.ClusterDimZ() }

// SyncCluster waits until every thread of the cluster has called SyncCluster or exited. Writes that
// the threads made to shared and global memory before SyncCluster are visible to all these threads
// after SyncCluster.
func (t Thread) SyncCluster() { t.block.SyncCluster(t.linear()) }

// ArriveCluster is the first half of SyncCluster: it records that the thread has arrived, and does
// not wait. Further calls before the thread's next WaitCluster have no effect.
func (t Thread) ArriveCluster() { t.block.ArriveCluster(t.linear()) }

// WaitCluster is the second half of SyncCluster: it waits until every thread of the cluster has
// arrived or exited. WaitCluster returns at once if the thread has not called ArriveCluster since
// its previous WaitCluster.
func (t Thread) WaitCluster() { t.block.WaitCluster(t.linear()) }

// Peer returns a pointer to the counterpart of *p in the shared memory of the block with the given
// rank in the cluster. p points into memory that Shared or DynamicShared returned. A kernel can
// read and write through the result, index it, and pass it to atomic operations.
//
//	mine := gpu.Shared[[256]float32](t)
//	...
//	t.SyncCluster() // all blocks have written to their shared memory
//	x := gpu.Peer(t, mine, (t.ClusterRank()+1)%t.ClusterSize())[i]
//
// In a kernel that uses Peer, the blocks of a cluster wait for each other at the start and at the
// end of the kernel, so the shared memory of all of them is always valid. The thread faults if the
// cluster has no block of the given rank.
func Peer[T any](t Thread, p *T, rank int) *T {
	return (*T)(t.block.Peer(unsafe.Pointer(p), rank))
}

// PeerSlice is like Peer for a slice of shared memory.
func PeerSlice[T any](t Thread, s []T, rank int) []T {
	if len(s) == 0 {
		return s
	}
	return unsafe.Slice(Peer(t, &s[0], rank), cap(s))[:len(s)]
}
