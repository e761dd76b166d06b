package simt

import (
	"fmt"
	"sync"
	"unsafe"
)

// Cluster is blocks that run at once, see each other's shared memory and wait for each other. A tier makes
// one for a launch, adds the blocks by their rank, and calls Begin whenever they have all entered.
type Cluster struct {
	Blocks []*Block

	mu      sync.Mutex
	members int   // threads that have not left
	lack    int   // those of them that have not arrived in this phase
	phase   int   // counts from 1
	arrived []int // by thread of the cluster: the phase in which it arrived and for which it has not waited; 0 for none
}

// Begin readies c for blocks of so many threads, none of which has run.
func (c *Cluster) Begin(threads int) {
	c.members, c.phase = threads*len(c.Blocks), 1
	c.lack = c.members
	c.arrived = make([]int, c.members)
}

// Leave takes a thread of the block out that has left the kernel.
func (b *Block) Leave(thread int) {
	c := b.Cluster
	c.mu.Lock()
	c.members--
	if *c.of(b, thread) != c.phase {
		c.lack--
	}
	c.settle()
}

// ArriveCluster notes that the thread has come to the cluster's barrier, unless it has and has not waited yet.
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

// WaitCluster waits until all threads of the cluster that have not left have come to its barrier, if this one has.
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

// SyncCluster is both, after a wait for an arrival that the thread has not waited for yet.
func (b *Block) SyncCluster(thread int) {
	if b.Cluster != nil {
		b.WaitCluster(thread)
		b.ArriveCluster(thread)
	}
	b.WaitCluster(thread)
}

// of returns the place of a thread's arrival.
func (c *Cluster) of(b *Block, thread int) *int { return &c.arrived[b.Rank*b.Threads()+thread] }

func (c *Cluster) past(phase int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase > phase
}

// settle begins the next phase where all have come, and unlocks c.
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

// Peer returns where the block of the given rank in the cluster has what lies at p, in b's shared memory.
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

// Where locate finds an address other than in the shared variable of a number.
const (
	inDynamic = -1
	notShared = 1 << 30
)

// locate returns in which shared variable p lies, and how many bytes behind its start. The lock is held.
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

// place returns the address of a shared variable, which b may not have asked for yet.
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
