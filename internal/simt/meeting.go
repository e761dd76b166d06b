package simt

// WarpSize is the number of threads of a warp, whose linear indices in the block differ only in the
// last five bits.
const WarpSize = 32

// AllLanes is the set of all threads of a warp.
const AllLanes = 1<<WarpSize - 1

// Kind is the operation for which threads meet. All threads that wait for each other must call the
// same one.
type Kind uint8

// The kinds. The first four are meetings of a block; GridBarrier then also waits for all other
// blocks, and ClusterBarrier is the barrier of a cluster with one block. The others are meetings of
// a warp.
const (
	Barrier Kind = iota
	BarrierVote
	GridBarrier
	ClusterBarrier
	WarpBarrier
	Vote
	Shuffle
	Match
	Multiply
	MultiplyTiles
	LoadRows
	StoreRows
	Products // of a group of four warps
)

var kindNames = [...]string{Barrier: "Sync", BarrierVote: "SyncCount, SyncAnd or SyncOr", GridBarrier: "SyncGrid", ClusterBarrier: "SyncCluster", WarpBarrier: "SyncWarp", Vote: "a vote", Shuffle: "a shuffle", Match: "Match", Multiply: "MMA", MultiplyTiles: "MultiplyTilesAsync", LoadRows: "LoadMatrix", StoreRows: "StoreMatrix", Products: "AwaitProducts"}

// String returns the name of the operation that a kernel calls for such a meeting.
func (k Kind) String() string { return kindNames[k] }

// Warp reports whether the threads of a warp meet, rather than those of the block.
func (k Kind) Warp() bool { return k >= WarpBarrier && k < Products }

// Meeting contains the values that the threads brought to a meeting.
type Meeting struct {
	// For a warp: the lanes that arrived, and the value of each.
	Lanes  uint32
	Values [WarpSize]uint64

	// For a block: the number of threads that arrived, and of those that brought a nonzero value.
	Threads, Ones int
}

// Bring adds the value of a thread.
func (m *Meeting) Bring(thread int, v uint64) {
	m.Lanes |= 1 << (thread % WarpSize)
	m.Values[thread%WarpSize] = v
	m.Threads++
	if v != 0 {
		m.Ones++
	}
}
