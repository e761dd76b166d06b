package simt

import (
	"fmt"
	"sync"
)

// A barrier in shared memory is a word: from the lowest bit up the arrivals that a phase wants, those
// that it still lacks, the bytes that it still lacks, with a sign, and the parity of the phase.
const (
	countBits   = 20
	maxArrivals = 1<<countBits - 1
	bytesBits   = 22
	parityBit   = 2*countBits + bytesBits
)

// barrierState is such a word taken apart.
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

// next begins the next phase where nothing lacks in this one.
func (s barrierState) next() barrierState {
	if s.lack == 0 && s.bytes == 0 {
		s.lack, s.parity = s.want, s.parity^1
	}
	return s
}

// InitBarrier makes a word a barrier in its first phase, each of which ends with so many arrivals.
func (b *Block) InitBarrier(w *uint64, arrivals int) {
	if arrivals < 1 || arrivals > maxArrivals {
		panic(fmt.Sprintf("gpu.Barrier: Init for %d arrivals, possible are 1 to %d", arrivals, maxArrivals))
	}
	mu := b.barriers()
	mu.Lock()
	defer mu.Unlock()
	*w = barrierState{want: arrivals, lack: arrivals}.pack()
}

// Arrive notes an arrival, after which the phase lacks some bytes more.
func (b *Block) Arrive(w *uint64, bytes int) { b.change(w, 1, bytes) }

// Complete notes that bytes have come.
func (b *Block) Complete(w *uint64, bytes int) { b.change(w, 0, -bytes) }

func (b *Block) change(w *uint64, arrivals, bytes int) {
	mu := b.barriers()
	mu.Lock()
	s := unpack(*w)
	if arrivals > s.lack {
		mu.Unlock()
		panic("gpu.Barrier: more arrivals in a phase than Init said")
	}
	s.lack, s.bytes = s.lack-arrivals, s.bytes+bytes
	*w = s.next().pack()
	mu.Unlock()
	if b.Cluster != nil { // it may be another block's
		b.Cluster.notify()
		return
	}
	b.Notify()
}

// barriers returns the lock for barriers that b's threads reach.
func (b *Block) barriers() *sync.Mutex {
	if b.Cluster != nil {
		return &b.Cluster.mu
	}
	return &b.mu
}

// Passed reports whether the phase of the given parity is over.
func (b *Block) Passed(w *uint64, parity int) bool {
	mu := b.barriers()
	mu.Lock()
	defer mu.Unlock()
	return unpack(*w).parity != uint64(parity&1)
}
