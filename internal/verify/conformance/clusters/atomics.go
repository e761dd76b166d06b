package clusters

import "github.com/gopherwarp/gopherwarp/gpu"

// pooled is memory of one block that all threads of its cluster change at once.
type pooled[T any] struct{ Add, Counted, Sub, Min, Max, Swapped, Exchanged T }

// merged is likewise.
type merged[T any] struct{ And, Or, Xor, AndOld, OrOld, XorOld T }

const (
	members = 4 * 64 // threads of a cluster
	tries   = 4      // of each of them
)

// pool changes a number in the last block in all ways that all numbers know. Each thread leaves the sums of what
// AtomicAdd and AtomicExchange returned, and the largest number that AtomicMax and AtomicMin did.
//
//gpu:kernel
//gpu:block 64
//gpu:cluster 4
//gpu:instance pool[int32|uint32|int64|uint64|float32|float64]
func pool[T gpu.Number](t gpu.Thread, out []pooled[T], olds [][3]T) {
	mine := gpu.Shared[pooled[T]](t)
	if t.ThreadX() == 0 {
		*mine = pooled[T]{Sub: 3000, Min: 9000}
	}
	t.SyncCluster()
	there := gpu.Peer(t, mine, t.ClusterSize()-1)
	own := &olds[t.GlobalX()]
	for try := range tries {
		i := (t.ClusterRank()*64+t.ThreadX())*tries + try
		own[0] += gpu.AtomicAdd(&there.Add, 1)
		own[1] += gpu.AtomicExchange(&there.Exchanged, T(i+1))
		gpu.AtomicAdd(&there.Counted, T(i))
		gpu.AtomicSub(&there.Sub, 2)
		gpu.AtomicMin(&there.Min, T(9000-i))
		own[2] = max(own[2], gpu.AtomicMax(&there.Max, T(i*3)))
		for done := false; !done; {
			was := gpu.AtomicLoad(&there.Swapped)
			_, done = gpu.AtomicCompareAndSwap(&there.Swapped, was, was+3)
		}
	}
	t.SyncCluster()
	if t.ClusterRank() == 3 && t.ThreadX() == 0 {
		out[t.ClusterX()] = *mine
	}
}

// merge changes bits in the last block, without and with a look at what was there.
//
//gpu:kernel
//gpu:block 64
//gpu:cluster 4
//gpu:instance merge[int32|uint32|int64|uint64]
func merge[T gpu.Integer](t gpu.Thread, out []merged[T], olds []T) {
	mine := gpu.Shared[merged[T]](t)
	if t.ThreadX() == 0 {
		*mine = merged[T]{And: 0x7fffffff, AndOld: 0x7fffffff}
	}
	t.SyncCluster()
	there := gpu.Peer(t, mine, t.ClusterSize()-1)
	i := t.ClusterRank()*64 + t.ThreadX()
	bit, old := T(1)<<(i%31), T(0)
	gpu.AtomicXor(&there.Xor, T(i*i))
	old ^= gpu.AtomicXor(&there.XorOld, T(i*i))
	if i%31 < 20 {
		gpu.AtomicOr(&there.Or, bit)
		old ^= gpu.AtomicOr(&there.OrOld, bit)
		gpu.AtomicAnd(&there.And, ^bit)
		old ^= gpu.AtomicAnd(&there.AndOld, ^bit)
	}
	olds[t.GlobalX()] = old
	t.SyncCluster()
	if t.ClusterRank() == 3 && t.ThreadX() == 0 {
		out[t.ClusterX()] = *mine
	}
}
