package clusters

import "github.com/gopherwarp/gopherwarp/gpu"

// reach asks for the shared memory of a block that the cluster may not have.
//
//gpu:kernel
//gpu:block 32
//gpu:cluster 2
func reach(t gpu.Thread, who, rank, index int, x []int32) {
	mine := gpu.Shared[[32]int32](t)
	mine[t.ThreadX()] = 7
	t.SyncCluster()
	other := t.ClusterRank()
	if t.GlobalX() == who {
		other = rank
	}
	there := gpu.Peer(t, mine, other) // reach
	if t.GlobalX() == who {
		there[index]++ // beyond
	}
	x[t.GlobalX()] = *gpu.Peer(t, &mine[3], 0)
}

// look reads from there at once, which has a check of the index too.
//
//gpu:kernel
//gpu:block 32
//gpu:cluster 2
func look(t gpu.Thread, who, rank int, x []int32) {
	mine := gpu.Shared[[32]int32](t)
	mine[t.ThreadX()] = 7
	t.SyncCluster()
	other := t.ClusterRank()
	if t.GlobalX() == who {
		other = rank
	}
	v := gpu.Peer(t, mine, other)[t.ThreadX()] // look
	t.SyncCluster()
	x[t.GlobalX()] = v
}

// beside lets threads fault that the others of the cluster wait for, in one way or another.
//
//gpu:kernel
//gpu:block 64
//gpu:cluster 4
func beside(t gpu.Thread, kind, who, many int, x []int32) {
	mine, ready := gpu.Shared[[64]int32](t), gpu.Shared[int32](t)
	i := t.ThreadX()
	mine[i] = int32(i)
	if i == 0 {
		*ready = 0
	}
	t.SyncCluster()
	if g := t.GlobalX(); g >= who && g < who+many {
		if kind == 1 {
			t.ArriveCluster()
		}
		panic("left") // beside
	}
	next := (t.ClusterRank() + 1) % 4
	switch kind {
	case 0: // all barriers of the kernel
		for range 5 {
			t.SyncCluster()
			t.Sync()
			x[t.GlobalX()] += gpu.Peer(t, mine, next)[gpu.ShuffleXor(t, i, 1)]
		}
	case 1:
		for range 5 {
			t.ArriveCluster()
			x[t.GlobalX()] += gpu.Peer(t, mine, next)[i]
			t.WaitCluster()
		}
	case 2: // in another block's memory
		gpu.AtomicAdd(gpu.Peer(t, ready, next), 1, gpu.Release, gpu.ClusterScope)
		for gpu.AtomicLoad(ready, gpu.Acquire, gpu.ClusterScope) < 64 {
		}
	case 3:
		for gpu.AtomicLoad(gpu.Peer(t, ready, next), gpu.Acquire, gpu.ClusterScope) == 0 {
		}
	}
	x[t.GlobalX()]++
}
