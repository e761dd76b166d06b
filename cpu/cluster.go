package cpu

import (
	"runtime"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// clusterBlocks is the maximum number of blocks in a cluster, the same as on a GPU.
const clusterBlocks = 16

// clusterSize returns the number of blocks in a cluster of the launch.
func (l *launch) clusterSize() int { return l.cluster[0] * l.cluster[1] * l.cluster[2] }

// clusterStaff returns how many workers a launch with clusters gets. Each of them runs one cluster
// at a time.
func (l *launch) clusterStaff() int {
	size := l.clusterSize()
	clusters, threads := int(l.total)/size, size*l.dim[0]*l.dim[1]*l.dim[2]
	n := min(runtime.GOMAXPROCS(0), clusters, max(1, maxCooperative/threads))
	switch {
	case l.barrier != nil:
		n = clusters
	case l.kernel.Spins:
		n = min(clusters, max(1, maxCooperative/threads))
	}
	for len(l.workers) < n {
		l.workers = append(l.workers, newWorker(l))
	}
	return n
}

// clusters runs clusters of blocks until none is left. It also runs all clusters after a fault, so
// that which fault is reported does not depend on the schedule.
func (w *worker) clusters() {
	l, size := w.launch, w.launch.clusterSize()
	for len(w.peers) < size {
		w.peers = append(w.peers, newWorker(l))
	}
	c := &simt.Cluster{}
	for rank, p := range w.peers[:size] {
		b := &p.block
		b.Dynamic = l.shared
		b.Begin(l.dim, l.grid)
		b.Cluster, b.Rank, b.ClusterDim = c, rank, l.cluster
		c.Blocks = append(c.Blocks, b)
	}
	for n, ok := w.take(); ok; n, ok = w.take() {
		w.cluster(n, c)
	}
}

// cluster runs the cluster with number n, x counting fastest.
func (w *worker) cluster(n int64, c *simt.Cluster) {
	l := w.launch
	var clusters [3]int
	for i := range clusters {
		clusters[i] = l.grid[i] / l.cluster[i]
	}
	first, threads := blockIndex(n, clusters), w.peers[0].block.Threads()
	everyone := &deadlockDetector{}
	everyone.begin(threads * len(c.Blocks))
	c.Begin(threads)
	for rank := range c.Blocks {
		p, at := w.peers[rank], blockIndex(int64(rank), l.cluster)
		for i := range at {
			at[i] += first[i] * l.cluster[i]
		}
		p.number = int64(at[0] + l.grid[0]*(at[1]+l.grid[1]*at[2]))
		p.block.Enter(at)
		m := newMeetings(threads)
		m.detector, everyone.meetings = everyone, append(everyone.meetings, m)
		p.prepare(threads, m)
	}
	var running sync.WaitGroup
	for rank, m := range everyone.meetings {
		running.Go(func() {
			w.peers[rank].meet(threads, m)
			if l.barrier != nil {
				l.barrier.leave()
			}
		})
	}
	running.Wait()
}
