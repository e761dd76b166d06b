package simt

import (
	"fmt"
	"sync"
	"unsafe"
)

// Cluster is a set of blocks that run at the same time, access each other's shared memory and wait
// for each other. A tier of package cpu makes one for a launch, adds the blocks in the order of
// their ranks, and calls Begin after all of them have entered.
type Cluster struct {
	Blocks []*Block

	mu      sync.Mutex
	members int   // threads that have not left
	lack    int   // those of them that have not arrived in this phase
	phase   int   // counts from 1
	arrived []int // by thread of the cluster: the phase in which it has arrived without waiting yet, or 0
}

// Begin prepares c for blocks with the given number of threads, none of which has run.
func (c *Cluster) Begin(threads int) {
	c.members, c.phase = threads*len(c.Blocks), 1
	c.lack = c.members
	c.arrived = make([]int, c.members)
}

// Leave removes a thread of the block that has left the kernel.
func (b *Block) Leave(thread int) {
	c := b.Cluster
	c.mu.Lock()
	c.members--
	if *c.of(b, thread) != c.phase {
		c.lack--
	}
	c.settle()
}

// ArriveCluster records that the thread has arrived at the cluster's barrier, unless it has already
// arrived and not waited yet.
func (b *Block) ArriveCluster(thread int) {
	if b.Cluster == nil {
		return
	}
	c := b.Cluster
	c.mu.Lock()
	at := c.of(b, thread)
	if *at == 0 {
		*at = c.phase
		c.lack--
	}
	c.settle()
}

// WaitCluster waits until all threads of the cluster that have not left have arrived at its
// barrier. It returns at once if this thread has not arrived.
func (b *Block) WaitCluster(thread int) {
	c := b.Cluster
	if c == nil {
		b.Meet(thread, ClusterBarrier, 0)
		return
	}
	c.mu.Lock()
	at := *c.of(b, thread)
	*c.of(b, thread) = 0
	c.mu.Unlock()
	if at == 0 || c.past(at) {
		return
	}
	b.Await(thread, func() bool { return c.past(at) })
}

// SyncCluster arrives and waits. If the thread has arrived before without waiting, SyncCluster
// first waits for that.
func (b *Block) SyncCluster(thread int) {
	if b.Cluster != nil {
		b.WaitCluster(thread)
		b.ArriveCluster(thread)
	}
	b.WaitCluster(thread)
}

// of returns a pointer to the phase of a thread's arrival.
func (c *Cluster) of(b *Block, thread int) *int { return &c.arrived[b.Rank*b.Threads()+thread] }

func (c *Cluster) past(phase int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase > phase
}

// settle begins the next phase if all threads have arrived, and unlocks c.
func (c *Cluster) settle() {
	over := c.lack == 0 && c.members > 0
	if over {
		c.phase++
		c.lack = c.members
	}
	c.mu.Unlock()
	if over {
		c.notify()
	}
}

func (c *Cluster) notify() {
	for _, b := range c.Blocks {
		if b.Notify != nil {
			b.Notify()
		}
	}
}

// ClusterBlocks returns the number of blocks of b's cluster along each axis.
func (b *Block) ClusterBlocks() [3]int {
	if b.Cluster == nil {
		return [3]int{1, 1, 1}
	}
	return b.ClusterDim
}

// Peer returns the address, in the block of the given rank in the cluster, of the shared variable
// that p points to in b.
func (b *Block) Peer(p unsafe.Pointer, rank int) unsafe.Pointer {
	n := 1
	if b.Cluster != nil {
		n = len(b.Cluster.Blocks)
	}
	if uint(rank) >= uint(n) {
		panic(fmt.Sprintf("gpu.Peer: block %d of a cluster of %d", rank, n))
	}
	b.mu.Lock()
	at, place := b.locate(p)
	makers := make([]func() variable, len(b.shared))
	for i, v := range b.shared {
		makers[i] = v.another
	}
	b.mu.Unlock()
	if place < notShared && n > 1 {
		return unsafe.Add(b.Cluster.Blocks[rank].place(place, makers), at)
	}
	if place == notShared {
		panic("gpu.Peer: the address is not in shared memory")
	}
	return p
}

// Results of locate for an address that is not in a shared variable.
const (
	inDynamic = -1
	notShared = 1 << 30
)

// locate returns the index of the shared variable that contains p, and the offset of p in it. The
// lock is held.
func (b *Block) locate(p unsafe.Pointer) (offset uintptr, variable int) {
	inside := func(m []byte) bool {
		start := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
		offset = uintptr(p) - start
		return uintptr(p) >= start && offset < uintptr(max(1, len(m)))
	}
	for i, v := range b.shared {
		if inside(v.bytes) {
			return offset, i
		}
	}
	if len(b.dynamic) > 0 && inside(bytesOf(b.dynamic)) {
		return offset, inDynamic
	}
	return 0, notShared
}

// place returns the address of a shared variable, which it allocates if no thread of b has
// requested it yet.
func (b *Block) place(variable int, makers []func() variable) unsafe.Pointer {
	if variable == inDynamic {
		return unsafe.Pointer(unsafe.SliceData(DynamicShared[uint8](b)))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.shared); i <= variable; i++ {
		b.shared = append(b.shared, makers[i]())
	}
	return unsafe.Pointer(unsafe.SliceData(b.shared[variable].bytes))
}
