package gpu

import "github.com/gopherwarp/gopherwarp/internal/simt"

// Barrier counts arrivals of threads and bytes of bulk copies, in consecutive phases (PTX:
// mbarrier; requires compute capability 9.0). A phase completes, and the next phase begins, when
// the Barrier has counted as many arrivals as Init requires and as many bytes as Expect announces.
//
//	full := gpu.Shared[gpu.Barrier](t)
//	if t.ThreadX() == 0 {
//		full.Init(t, 1)
//	}
//	t.Sync()
//	if t.ThreadX() == 0 {
//		full.Expect(t, gpu.PanelBytes)
//		a.Fetch(t, panel, gpu.Corner{X: x, Y: y}, full)
//	}
//	full.Wait(t, 0)
//
// A Barrier must be in shared memory. If a thread faults, the threads that wait for its arrival
// exit.
type Barrier struct{ word uint64 }

// Init initializes b and begins phase 0. Each phase requires the given number of arrivals. One
// thread calls Init. Then all threads of the block call Sync or SyncCluster before they use b.
func (b *Barrier) Init(t Thread, arrivals int) { t.block.InitBarrier(&b.word, arrivals) }

// Arrive counts one arrival. The thread's earlier memory accesses happen before the later accesses
// of threads that wait for the phase.
func (b *Barrier) Arrive(t Thread) { t.block.Arrive(&b.word, 0) }

// ArriveAt counts one arrival at the counterpart of b in the block with the given rank in the
// cluster (see Peer). After waiting for the phase, threads of that block may overwrite shared
// memory that the calling thread has read before ArriveAt. ArriveAt does not order the calling
// thread's writes. A block must not end before other blocks have arrived at its barriers. The
// thread faults if the cluster has no block of the given rank.
func (b *Barrier) ArriveAt(t Thread, rank int) { Peer(t, b, rank).Arrive(t) }

// Expect is like Arrive, and also makes the phase wait for the given number of bytes. Bulk copies
// with b as their barrier deliver the bytes.
func (b *Barrier) Expect(t Thread, bytes int) { t.block.Arrive(&b.word, bytes) }

// Send starts to store v in the counterpart of *dst in the block with the given rank in the cluster
// (see Peer; PTX: st.async). The 8 bytes arrive at that block's counterpart of b. Threads that wait
// there for the phase can then read v.
//
//	got, full := gpu.Shared[[8]uint64](t), gpu.Shared[gpu.Barrier](t)
//	if t.ThreadX() == 0 {
//		full.Init(t, 1)
//		full.Expect(t, 8*t.ClusterSize())
//	}
//	t.ArriveCluster()
//	... // work that needs no other block
//	t.WaitCluster() // the barriers of all blocks are initialized
//	if rank := t.ThreadX(); rank < t.ClusterSize() {
//		full.Send(t, &got[t.ClusterRank()], v, rank)
//	}
//	full.Wait(t, 0)
//
// Send costs less than a write through Peer followed by SyncCluster, because SyncCluster waits for
// all accesses to global memory. Send orders no other accesses of the thread. A block must not end
// before all data that other blocks send to it has arrived. The thread faults if the cluster has no
// block of the given rank.
func (b *Barrier) Send(t Thread, dst *uint64, v uint64, rank int) {
	*Peer(t, dst, rank) = v
	t.block.Complete(&Peer(t, b, rank).word, 8)
}

// Wait waits until the phase with the given number has completed. Only the lowest bit of the number
// is significant: it distinguishes the current phase from the previous one. Wait(t, 1) therefore
// returns at once during phase 0.
func (b *Barrier) Wait(t Thread, phase int) {
	if !t.block.Passed(&b.word, phase) {
		t.block.Await(t.linear(), func() bool { return t.block.Passed(&b.word, phase) })
	}
}

// Done reports whether the phase with the given number has completed. A loop may call Done to wait
// for a phase.
func (b *Barrier) Done(t Thread, phase int) bool {
	simt.Pause()
	return t.block.Passed(&b.word, phase)
}

// WarpGroupSize is the number of threads in a warp group: four consecutive warps that multiply
// Panels together. The index of the group's first warp is a multiple of four.
const WarpGroupSize = 4 * simt.WarpSize

// WarpGroup returns the index of the thread's warp group in the block.
func (t Thread) WarpGroup() int { return t.linear() / WarpGroupSize }
