package simt

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Cluster is a set of blocks that run at the same time, access each other's shared memory and wait
// for each other. A tier of package cpu makes one for a launch, adds the blocks in the order of
// their ranks, and calls Begin after all of them have entered.
type Cluster struct {
	Blocks  []*Block
	Faulted atomic.Bool // a thread has, and others may wait for it in vain

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
	c.Faulted.Store(false)
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
		b.Meet(thread, ClusterBarrier, 0, 0)
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
	v, at := b.locate(p)
	b.mu.Unlock()
	switch {
	case v == nil:
		panic("gpu.Peer: the address is not in shared memory")
	case n == 1:
		return p
	}
	return unsafe.Add(b.Cluster.Blocks[rank].place(v), at)
}

// locate returns a copy of the shared variable that contains p, and the offset of p in it; nil if p
// is not in shared memory, and a variable without type for the dynamic shared memory. The lock is held.
func (b *Block) locate(p unsafe.Pointer) (in *variable, offset uintptr) {
	inside := func(m []byte) bool {
		start := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
		offset = uintptr(p) - start
		return uintptr(p) >= start && offset < uintptr(max(1, len(m)))
	}
	for _, v := range b.shared {
		if inside(v.bytes) {
			return &v, offset
		}
	}
	if len(b.dynamic) > 0 && inside(bytesOf(b.dynamic)) {
		return &variable{}, offset
	}
	return nil, 0
}

// place returns the address, in b, of the shared variable that corresponds to v of another block. It
// allocates the variable if no thread of b has requested it yet.
func (b *Block) place(v *variable) unsafe.Pointer {
	if v.typed == nil {
		return unsafe.Pointer(unsafe.SliceData(DynamicShared[uint8](b)))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, own := range b.shared {
		if own.site == v.site && reflect.TypeOf(own.typed) == reflect.TypeOf(v.typed) {
			return unsafe.Pointer(unsafe.SliceData(own.bytes))
		}
	}
	b.shared = append(b.shared, v.another(v.site))
	return unsafe.Pointer(unsafe.SliceData(b.shared[len(b.shared)-1].bytes))
}
