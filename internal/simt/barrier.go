package simt

import (
	"fmt"
	"sync"
)

// A barrier in shared memory is a 64-bit integer. From the lowest bit up, it contains the number of
// arrivals that end a phase, the number of arrivals that the current phase lacks, the number of
// bytes that it lacks, with a sign, and the parity of the phase.
const (
	countBits   = 20
	maxArrivals = 1<<countBits - 1
	bytesBits   = 22
	parityBit   = 2*countBits + bytesBits
)

// barrierState is an unpacked barrier.
type barrierState struct {
	want, lack int
	bytes      int
	parity     uint64
}

func unpack(w uint64) barrierState {
	return barrierState{
		want: int(w & maxArrivals), lack: int(w >> countBits & maxArrivals),
		bytes: int(int64(w<<(64-parityBit)) >> (64 - bytesBits)), parity: w >> parityBit & 1,
	}
}

func (s barrierState) pack() uint64 {
	return uint64(s.want) | uint64(s.lack)<<countBits | uint64(s.bytes)&(1<<bytesBits-1)<<(2*countBits) | s.parity<<parityBit
}

// next begins the next phase if the current one is complete.
func (s barrierState) next() barrierState {
	if s.lack == 0 && s.bytes == 0 {
		s.lack, s.parity = s.want, s.parity^1
	}
	return s
}

// InitBarrier initializes a barrier. Each of its phases ends after the given number of arrivals.
func (b *Block) InitBarrier(w *uint64, arrivals int) {
	if arrivals < 1 || arrivals > maxArrivals {
		panic(fmt.Sprintf("gpu.Barrier: Init for %d arrivals, the number must be 1 to %d", arrivals, maxArrivals))
	}
	mu := b.barriers()
	mu.Lock()
	defer mu.Unlock()
	*w = barrierState{want: arrivals, lack: arrivals}.pack()
}

// Arrive records an arrival, and adds to the number of bytes that the phase lacks.
func (b *Block) Arrive(w *uint64, bytes int) { b.change(w, 1, bytes) }

// Complete records that bytes have arrived.
func (b *Block) Complete(w *uint64, bytes int) { b.change(w, 0, -bytes) }

func (b *Block) change(w *uint64, arrivals, bytes int) {
	mu := b.barriers()
	mu.Lock()
	s := unpack(*w)
	if arrivals > s.lack {
		mu.Unlock()
		panic("gpu.Barrier: more arrivals in a phase than Init allows")
	}
	s.lack, s.bytes = s.lack-arrivals, s.bytes+bytes
	*w = s.next().pack()
	mu.Unlock()
	if b.Cluster != nil { // the barrier may belong to another block
		b.Cluster.notify()
		return
	}
	b.Notify()
}

// barriers returns the lock for the barriers that b's threads can access.
func (b *Block) barriers() *sync.Mutex {
	if b.Cluster != nil {
		return &b.Cluster.mu
	}
	return &b.mu
}

// Passed reports whether the phase with the given parity is complete.
func (b *Block) Passed(w *uint64, parity int) bool {
	mu := b.barriers()
	mu.Lock()
	defer mu.Unlock()
	return unpack(*w).parity != uint64(parity&1)
}
