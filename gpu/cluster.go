package gpu

import "unsafe"

// ClusterX returns the index of the thread's cluster among those of the grid, along x. A launch says which
// blocks form a cluster (device.Grid's Cluster, or //gpu:cluster); without that each is one by itself.
// Clusters need compute capability 9.0.
func (t Thread) ClusterX() int { return t.block.Index[0] / t.ClusterDimX() }

// ClusterY returns the index of the thread's cluster among those of the grid, along y.
func (t Thread) ClusterY() int { return t.block.Index[1] / t.ClusterDimY() }

// ClusterZ returns the index of the thread's cluster among those of the grid, along z.
func (t Thread) ClusterZ() int { return t.block.Index[2] / t.ClusterDimZ() }

// ClusterDimX returns the number of blocks in a cluster, along x.
func (t Thread) ClusterDimX() int { return t.block.ClusterBlocks()[0] }

// ClusterDimY returns the number of blocks in a cluster, along y.
func (t Thread) ClusterDimY() int { return t.block.ClusterBlocks()[1] }

// ClusterDimZ returns the number of blocks in a cluster, along z.
func (t Thread) ClusterDimZ() int { return t.block.ClusterBlocks()[2] }

// ClusterBlockX returns the index of the thread's block in its cluster, along x.
func (t Thread) ClusterBlockX() int { return t.block.Index[0] % t.ClusterDimX() }

// ClusterBlockY returns the index of the thread's block in its cluster, along y.
func (t Thread) ClusterBlockY() int { return t.block.Index[1] % t.ClusterDimY() }

// ClusterBlockZ returns the index of the thread's block in its cluster, along z.
func (t Thread) ClusterBlockZ() int { return t.block.Index[2] % t.ClusterDimZ() }

// ClusterRank returns the index of the thread's block in its cluster, x counting fastest: what Peer takes.
func (t Thread) ClusterRank() int {
	return t.ClusterBlockX() + t.ClusterDimX()*(t.ClusterBlockY()+t.ClusterDimY()*t.ClusterBlockZ())
}

// ClusterSize returns the number of blocks in a cluster.
func (t Thread) ClusterSize() int { return t.ClusterDimX() * t.ClusterDimY() * t.ClusterDimZ() }

// SyncCluster waits until every thread of the cluster has called SyncCluster or left the kernel. What the
// threads wrote to shared and global memory before it is seen by all of them after it.
func (t Thread) SyncCluster() { t.block.SyncCluster(t.linear()) }

// ArriveCluster is the first half of SyncCluster: it tells the others that the thread has come, and does not
// wait for them. Before the thread has waited by WaitCluster, another call does nothing.
func (t Thread) ArriveCluster() { t.block.ArriveCluster(t.linear()) }

// WaitCluster is the second half of SyncCluster: it waits until every thread of the cluster has arrived as often
// as this one. Without a call of ArriveCluster before it returns at once.
func (t Thread) WaitCluster() { t.block.WaitCluster(t.linear()) }

// Peer returns the variable of the block with the given rank in the cluster that p is in the thread's own: p
// points into what Shared or DynamicShared returned. What comes of it is a pointer as others: it can be
// indexed, read, written, given to the atomic operations.
//
//	mine := gpu.Shared[[256]float32](t)
//	...
//	t.SyncCluster() // all have written theirs
//	x := gpu.Peer(t, mine, (t.ClusterRank()+1)%t.ClusterSize())[i]
//
// A block of a kernel that uses Peer has begun before any other of the cluster runs, and its shared memory
// stays until all of them have ended. The thread faults where the cluster has no such block.
func Peer[T any](t Thread, p *T, rank int) *T {
	return (*T)(t.block.Peer(unsafe.Pointer(p), rank))
}

// PeerSlice is Peer for a slice of shared memory.
func PeerSlice[T any](t Thread, s []T, rank int) []T {
	if len(s) == 0 {
		return s
	}
	return unsafe.Slice(Peer(t, &s[0], rank), cap(s))[:len(s)]
}
