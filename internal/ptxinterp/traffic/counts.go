package traffic

import (
	"math/bits"
	"slices"
)

const (
	lanes  = 32 // threads of a warp
	sector = 32 // bytes of global memory that travel together
	banks  = 32 // of shared memory, each of which serves a word at a time
	word   = 4  // bytes
)

// Counts are the counts of some instructions. Each execution by a warp is one request.
type Counts struct {
	Global       int // requests to global memory
	Sectors      int // that they touch
	SectorsLeast int // that the same bytes fill
	Shared       int // requests to shared memory
	Passes       int // over its banks
	PassesLeast  int // without conflicts
}

// Add adds other counts.
func (c *Counts) Add(o Counts) {
	c.Global += o.Global
	c.Sectors += o.Sectors
	c.SectorsLeast += o.SectorsLeast
	c.Shared += o.Shared
	c.Passes += o.Passes
	c.PassesLeast += o.PassesLeast
}

// OnGlobal counts a request of the threads of a mask for size bytes each, at aligned addresses.
func (c *Counts) OnGlobal(addresses *[lanes]uint64, mask uint32, size uint64) {
	if mask == 0 {
		return
	}
	distinct := chosen(addresses, mask)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	touched := 0
	for i, a := range distinct {
		if i == 0 || a/sector != distinct[i-1]/sector {
			touched++
		}
	}
	c.Global++
	c.Sectors += touched
	c.SectorsLeast += (len(distinct)*int(size) + sector - 1) / sector
}

// OnShared counts a request like OnGlobal's. Wide accesses are served in groups of threads that together
// access as many bytes as the banks deliver: halves of the warp for 8 bytes, quarters for 16. Threads of
// a group that access the same word are served together.
func (c *Counts) OnShared(addresses *[lanes]uint64, mask uint32, size uint64) {
	if mask == 0 {
		return
	}
	c.Shared++
	together := lanes * word / max(size, word)
	for first := uint64(0); first < lanes; first += together {
		group := mask >> first & uint32(1<<together-1)
		if group == 0 {
			continue
		}
		c.Passes += passes(addresses, group<<first, size)
		c.PassesLeast++
	}
}

// passes returns the most words that threads want of one bank.
func passes(addresses *[lanes]uint64, mask uint32, size uint64) int {
	var words []uint64
	for _, a := range chosen(addresses, mask) {
		for w := a / word; w*word < a+size; w++ {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	var wanted [banks]int
	for _, w := range slices.Compact(words) {
		wanted[w%banks]++
	}
	return slices.Max(wanted[:])
}

// chosen returns the addresses of the threads of a mask.
func chosen(addresses *[lanes]uint64, mask uint32) []uint64 {
	var at []uint64
	for ; mask != 0; mask &= mask - 1 {
		at = append(at, addresses[bits.TrailingZeros32(mask)])
	}
	return at
}
