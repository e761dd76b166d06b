package gpu

import "github.com/gopherwarp/gopherwarp/internal/simt"

// Thread is one thread of a running kernel. A Thread is the first parameter of a kernel, and the
// kernel may pass the Thread to other functions. All indices start at zero.
type Thread struct {
	block   *simt.Block
	x, y, z int32
}

// ThreadX returns the thread's index in its block along x.
func (t Thread) ThreadX() int { return int(t.x) }

// ThreadY returns the thread's index in its block along y.
func (t Thread) ThreadY() int { return int(t.y) }

// ThreadZ returns the thread's index in its block along z.
func (t Thread) ThreadZ() int { return int(t.z) }

// BlockX returns the index of the thread's block in the grid along x.
func (t Thread) BlockX() int { return t.block.Index[0] }

// BlockY returns the index of the thread's block in the grid along y.
func (t Thread) BlockY() int { return t.block.Index[1] }

// BlockZ returns the index of the thread's block in the grid along z.
func (t Thread) BlockZ() int { return t.block.Index[2] }

// BlockDimX returns the number of threads in a block along x.
func (t Thread) BlockDimX() int { return t.block.Dim[0] }

// BlockDimY returns the number of threads in a block along y.
func (t Thread) BlockDimY() int { return t.block.Dim[1] }

// BlockDimZ returns the number of threads in a block along z.
func (t Thread) BlockDimZ() int { return t.block.Dim[2] }

// GridDimX returns the number of blocks in the grid along x.
func (t Thread) GridDimX() int { return t.block.Grid[0] }

// GridDimY returns the number of blocks in the grid along y.
func (t Thread) GridDimY() int { return t.block.Grid[1] }

// GridDimZ returns the number of blocks in the grid along z.
func (t Thread) GridDimZ() int { return t.block.Grid[2] }

// GlobalX returns the thread's index in the whole grid along x: BlockX()*BlockDimX() + ThreadX().
func (t Thread) GlobalX() int { return t.block.Index[0]*t.block.Dim[0] + int(t.x) }

// GlobalY returns the thread's index in the whole grid along y: BlockY()*BlockDimY() + ThreadY().
func (t Thread) GlobalY() int { return t.block.Index[1]*t.block.Dim[1] + int(t.y) }

// GlobalZ returns the thread's index in the whole grid along z: BlockZ()*BlockDimZ() + ThreadZ().
func (t Thread) GlobalZ() int { return t.block.Index[2]*t.block.Dim[2] + int(t.z) }

// Sync waits until every thread of the block has called Sync or exited. Writes that the threads made
// to shared and global memory before Sync are visible to all these threads after Sync. All threads
// of a block must reach the same call of Sync.
func (t Thread) Sync() { t.block.Meet(t.linear(), simt.Barrier, 0, 0) }

// SyncCount is like Sync, and returns the number of threads for which p is true.
func (t Thread) SyncCount(p bool) int { return t.vote(p).Ones }

// SyncAnd is like Sync, and reports whether p is true for all threads.
func (t Thread) SyncAnd(p bool) bool { m := t.vote(p); return m.Ones == m.Threads }

// SyncOr is like Sync, and reports whether p is true for any thread.
func (t Thread) SyncOr(p bool) bool { return t.vote(p).Ones > 0 }

// SyncGrid waits until every thread of the grid has called SyncGrid or exited. Writes that the
// threads made to memory before SyncGrid are visible to all these threads after SyncGrid. Threads may
// exit before others call SyncGrid, but at least one thread of every block must call it.
//
// All blocks of a kernel that calls SyncGrid run at the same time; launching more blocks than the
// device can hold at once is an error. If a thread of the grid has faulted, the other threads exit
// when they call SyncGrid.
func (t Thread) SyncGrid() { t.block.Meet(t.linear(), simt.GridBarrier, 0, 0) }

func (t Thread) vote(p bool) *simt.Meeting {
	return t.block.Meet(t.linear(), simt.BarrierVote, 0, one(p))
}

// one returns 1 for true and 0 for false.
func one(p bool) uint64 {
	if p {
		return 1
	}
	return 0
}

// linear returns the thread's index in its block, where x varies fastest.
func (t Thread) linear() int {
	d := &t.block.Dim
	return int(t.x) + d[0]*(int(t.y)+d[1]*int(t.z))
}
