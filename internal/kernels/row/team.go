package row

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Team is the threads of a Wide kernel that share a row: a power of two of neighbouring lanes of a warp, a block, or the blocks of
// a cluster. Me is the thread's index among them.
type Team struct{ Row, Me, Size int }

const (
	perThread    = 4        // Words of a row, unless the row is longer than its team can take so
	leastThreads = 4        // of a team, so that neighbouring Words fill 64 bytes
	blockThreads = 256      // of a block with several teams, or most of one that is a part of a team
	mostThreads  = 512      // of a block that is a team
	mostStaged   = 64 << 10 // bytes of a block; three such blocks fit in the shared memory of a multiprocessor
	warps        = mostThreads / gpu.WarpSize

	MostBlocks = 8 // of a cluster that is a team, on all devices that have clusters
)

// Limits are the limits of a device that teams meet.
type Limits struct {
	Shared   int // bytes of dynamic shared memory
	Clusters int // blocks in a cluster; less than 2 if a team must not be a cluster
}

// Teams returns the grid that has a team for each of a number of rows of n Words, and dynamic shared memory for the rows of each
// block, or as much of them as the block may have. Where a team is a cluster, each thread has at least one of its Words there.
func Teams(rows, n int, l Limits) device.Grid {
	threads, teams, blocks := ceilDiv(n, perThread), 1, 1
	if threads <= gpu.WarpSize {
		threads = max(1<<bits.Len(uint(threads-1)), leastThreads)
		teams = blockThreads / threads
	} else {
		for 16*n > blocks*mostStaged && 2*blocks <= min(l.Clusters, MostBlocks) && l.Shared >= mostStaged {
			blocks *= 2
		}
		most := mostThreads
		if blocks > 1 {
			most = blockThreads
		}
		threads = min(ceilDiv(threads, blocks*gpu.WarpSize)*gpu.WarpSize, most)
	}
	grid := device.Grid{Blocks: device.Dim{X: ceilDiv(rows, teams) * blocks}, Block: device.Dim{X: threads, Y: teams}}
	if blocks > 1 {
		grid.Cluster.X = blocks
	}
	grid.Shared = min(ceilDiv(n, threads*blocks)*16*threads*teams, mostStaged, l.Shared)
	return grid
}

func ceilDiv(n, d int) int { return (n + d - 1) / d }

// TeamOf returns the team of a thread. Teams take consecutive rows, some of the last block perhaps rows that do not exist.
func TeamOf(t gpu.Thread) Team {
	return Team{t.BlockX()*t.BlockDimY() + t.ThreadY(), t.ThreadX(), t.BlockDimX()}
}

// ClusterOf returns the team of a thread of a kernel whose clusters are teams.
func ClusterOf(t gpu.Thread) Team {
	return Team{t.ClusterX(), t.ClusterRank()*t.BlockDimX() + t.ThreadX(), t.ClusterSize() * t.BlockDimX()}
}

// Parts is shared memory for a result of each warp of a block.
type Parts[T any] [warps]T

// Exchange returns what the warp of index t.Lane() passes, or zero if there is no such warp. All threads of the block call it, with
// the same v in a warp. parts is overwritten; a barrier must separate two calls with the same parts.
func (p *Parts[T]) Exchange(t gpu.Thread, v, zero T) T {
	if t.Lane() == 0 {
		p[t.Warp()] = v
	}
	t.Sync()
	if t.Lane() < t.BlockDimX()/gpu.WarpSize {
		return p[t.Lane()]
	}
	return zero
}

// Sum returns the sum of v over the team, which is no cluster, to all its threads. All threads of the block call it. parts is
// overwritten; a barrier must separate two calls with the same parts.
func (m Team) Sum(t gpu.Thread, parts *Parts[float32], v float32) float32 {
	v = m.WarpSum(t, v)
	if m.Size <= gpu.WarpSize {
		return v
	}
	return m.WarpSum(t, parts.Exchange(t, v, 0))
}

// WarpSum returns the sum of v over those threads of the team that are in the thread's warp.
func (m Team) WarpSum(t gpu.Thread, v float32) float32 {
	if m.Size < gpu.WarpSize {
		for d := 1; d < m.Size; d *= 2 {
			v += gpu.ShuffleXor(t, v, d)
		}
		return v
	}
	for d := 1; d < gpu.WarpSize; d *= 2 {
		v += gpu.ShuffleXor(t, v, d)
	}
	return v
}

// WarpMax is like WarpSum, and returns the greatest v, or NaN if one is NaN.
func (m Team) WarpMax(t gpu.Thread, v float32) float32 {
	if m.Size < gpu.WarpSize {
		for d := 1; d < m.Size; d *= 2 {
			v = max(v, gpu.ShuffleXor(t, v, d))
		}
		return v
	}
	for d := 1; d < gpu.WarpSize; d *= 2 {
		v = max(v, gpu.ShuffleXor(t, v, d))
	}
	return v
}
