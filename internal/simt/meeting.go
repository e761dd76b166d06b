package simt

// WarpSize is the number of threads of a warp: those whose linear indices in the block are the same
// but for the last five bits.
const WarpSize = 32

// Kind says what threads meet for. Threads that wait for each other came for the same.
type Kind uint8

// The kinds. The first four are meetings of a block, of which GridBarrier then waits for all the
// other blocks, and ClusterBarrier is that of a cluster of one; the others are meetings of a warp.
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
	Products // of a warp group
)

var kindNames = [...]string{Barrier: "Sync", BarrierVote: "SyncCount, SyncAnd or SyncOr", GridBarrier: "SyncGrid", ClusterBarrier: "SyncCluster", WarpBarrier: "SyncWarp", Vote: "a vote", Shuffle: "a shuffle", Match: "Match", Multiply: "MMA", MultiplyTiles: "MultiplyTilesAsync", LoadRows: "LoadMatrix", StoreRows: "StoreMatrix", Products: "AwaitProducts"}

// String returns what a kernel calls for such a meeting.
func (k Kind) String() string { return kindNames[k] }

// Warp reports whether the threads of a warp meet, and not those of the block.
func (k Kind) Warp() bool { return k >= WarpBarrier && k < Products }

// Meeting is what the threads that met brought with them.
type Meeting struct {
	// Of a warp: the lanes that came, and what each brought.
	Lanes  uint32
	Values [WarpSize]uint64

	// Of a block: how many threads came, and how many of them with something other than 0.
	Threads, Ones int
}

// Bring adds what a thread brings.
func (m *Meeting) Bring(thread int, v uint64) {
	m.Lanes |= 1 << (thread % WarpSize)
	m.Values[thread%WarpSize] = v
	m.Threads++
	if v != 0 {
		m.Ones++
	}
}
