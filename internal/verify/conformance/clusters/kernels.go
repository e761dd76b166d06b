package clusters

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool kernelgen .

// place is what the words say of a thread's cluster.
type place struct {
	ClusterX, ClusterY, ClusterZ, ClusterDimX, ClusterDimY, ClusterDimZ         int32
	ClusterBlockX, ClusterBlockY, ClusterBlockZ, ClusterRank, ClusterSize, Peer int32
}

// places has the first thread of each block write down where it is.
//
//gpu:kernel
func places(t gpu.Thread, out []place) {
	mine := gpu.Shared[int32](t)
	i := t.BlockX() + t.GridDimX()*(t.BlockY()+t.GridDimY()*t.BlockZ())
	if t.ThreadX() == 0 {
		*mine = int32(i)
	}
	t.SyncCluster()
	if t.ThreadX() == 0 {
		out[i] = place{
			int32(t.ClusterX()), int32(t.ClusterY()), int32(t.ClusterZ()),
			int32(t.ClusterDimX()), int32(t.ClusterDimY()), int32(t.ClusterDimZ()),
			int32(t.ClusterBlockX()), int32(t.ClusterBlockY()), int32(t.ClusterBlockZ()),
			int32(t.ClusterRank()), int32(t.ClusterSize()),
			*gpu.Peer(t, mine, t.ClusterSize()-1),
		}
	}
}

const size = 48 // threads of a block below

// exchanged is what a thread finds in the shared memory of its cluster.
type exchanged struct {
	Read, Written, Element, Field, Slice, Dynamic, Added, Maximum, Swapped, Function, Loop, Copied, Guarded, GuardedSlice int64
}

type record struct {
	a int32
	b [3]int64
}

// exchange moves data between the blocks of a cluster in all ways.
//
//gpu:kernel
//gpu:cluster 4
func exchange(t gpu.Thread, in []int64, out []exchanged) {
	mine, sums, box := gpu.Shared[[size]int64](t), gpu.Shared[[3]int64](t), gpu.Shared[record](t)
	tail := gpu.DynamicShared[int64](t)
	i, n := t.ThreadX(), t.ClusterSize()
	next, x := (t.ClusterRank()+1)%n, in[t.GlobalX()]
	r := &out[t.GlobalX()]
	mine[i] = x
	tail[i] = 2 * x
	if i == 0 {
		*sums = [3]int64{}
		box.a, box.b = int32(x), [3]int64{x, x + 1, x + 2}
	}
	t.SyncCluster()
	theirs := gpu.Peer(t, mine, next)
	r.Read = theirs[size-1-i]
	r.Element = *gpu.Peer(t, &mine[(i+1)%size], next)
	r.Field = gpu.Peer(t, box, next).b[i%3] + int64(*gpu.Peer(t, &box.a, t.ClusterRank()))
	r.Slice = total(gpu.PeerSlice(t, mine[i/2:], next))
	r.Dynamic = gpu.PeerSlice(t, tail, next)[i]
	r.Function = total(theirs[:4])
	for rank := range n {
		r.Loop += gpu.Peer(t, mine, rank)[i] * int64(rank+1)
	}
	all := *theirs
	r.Copied = all[i/3]
	right, among := mine, mine[:]
	if after := t.ClusterRank() + 1; after < n { // there is no such block for the last one
		right, among = gpu.Peer(t, mine, after), gpu.PeerSlice(t, mine[:], after)
	}
	r.Guarded, r.GuardedSlice = right[i], among[i]
	gpu.AtomicAdd(&gpu.Peer(t, sums, 0)[0], x, gpu.ClusterScope)
	gpu.AtomicMax(&gpu.Peer(t, sums, next)[1], x)
	gpu.AtomicCompareAndSwap(&gpu.Peer(t, sums, next)[2], 0, int64(next)+1)
	t.SyncCluster()
	r.Added, r.Maximum, r.Swapped = gpu.Peer(t, sums, 0)[0], sums[1], sums[2]
	gpu.Peer(t, mine, next)[i] = -x
	t.SyncCluster()
	r.Written = mine[i]
}

func total(x []int64) (sum int64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// halves arrives at the cluster's barrier and waits for it later, more often than it must too.
//
//gpu:kernel
func halves(t gpu.Thread, rounds int, x []int32) {
	mine := gpu.Shared[[2][32]int32](t)
	i, next, sum := t.ThreadX(), (t.ClusterRank()+1)%t.ClusterSize(), int32(0)
	t.WaitCluster() // nobody has arrived
	for round := range rounds {
		mine[round%2][i] = int32(t.GlobalX() + round)
		t.ArriveCluster()
		if round%3 == 0 {
			t.ArriveCluster() // does nothing
		}
		sum *= 3
		t.WaitCluster()
		if round%4 == 1 {
			t.WaitCluster() // neither
		}
		sum += gpu.Peer(t, mine, next)[round%2][31-i]
		if round == 2 {
			t.ArriveCluster()
			t.SyncCluster()
		}
	}
	x[t.GlobalX()] = sum
	t.ArriveCluster() // and leaves
}

// leave has blocks and threads leave at different times, with what others still read.
//
//gpu:kernel
//gpu:block 64
//gpu:cluster 2,2
func leave(t gpu.Thread, spin int, x []int32) {
	mine := gpu.Shared[[64]int32](t)
	i, rank := t.ThreadX(), t.ClusterRank()
	mine[i] = int32(100*rank + i)
	t.SyncCluster()
	if rank == 0 || i%5 == 4 { // a whole block, and parts of the others
		return
	}
	t.SyncCluster()
	sum := int32(0)
	for round := range spin * rank {
		sum += gpu.Peer(t, mine, (rank+round)%4)[(i+round)%64]
	}
	t.Sync()
	gpu.AtomicAdd(&x[rank], sum)
}

// large has more shared memory than a kernel may declare.
//
//gpu:kernel
//gpu:block 128
//gpu:cluster 2
func large(t gpu.Thread, x []int32) {
	mine := gpu.Shared[[16 << 10]int32](t)
	for i := t.ThreadX(); i < len(mine); i += 128 {
		mine[i] = int32(i * (t.BlockX() + 1))
	}
	t.SyncCluster()
	theirs, sum := gpu.Peer(t, mine, 1-t.ClusterRank()), int32(0)
	for i := t.ThreadX(); i < len(theirs); i += 128 {
		sum += theirs[i] % 1000
	}
	x[t.GlobalX()] = sum
}

// warps reduces numbers in warps, of which the second one of each block is half of one.
//
//gpu:kernel
//gpu:block 48
//gpu:cluster 3
func warps(t gpu.Thread, in, out []int32) {
	mine := gpu.Shared[int32](t)
	v := in[t.GlobalX()]
	sum := gpu.WarpReduceAdd(t, v) + gpu.Shuffle(t, v, 3)
	least := gpu.WarpReduceMin(t, v)
	if t.ThreadX() == 47 {
		*mine = sum + least
	}
	t.SyncCluster()
	theirs := *gpu.Peer(t, mine, (t.ClusterRank()+1)%3)
	out[t.GlobalX()] = 10*theirs + int32(gpu.WarpReduceMax(t, uint32(v)))
}

// plain uses nothing of a cluster, and is launched with one.
//
//gpu:kernel
func plain(t gpu.Thread, x []int32) {
	if i := t.GlobalX(); i < len(x) {
		x[i]++
	}
}
