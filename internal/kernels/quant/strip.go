package quant

import "github.com/gopherwarp/gopherwarp/gpu"

// batch is a lane's share of a unit: planes, scales and minima of four rows.
type batch struct {
	planes [laneQuads]quad
	d, m   pair
}

// strip is the units that a warp multiplies: of the tiles from BlockX on, every n-th step.
type strip[Q scalar] struct {
	planes         []quad
	scales, minima []pair
	slice
	units int32 // of a row in the slice
	all   int32 // blocks of a row
	next  walk  // the step to request next
	ahead [2]batch
}

// perUnit returns the number of units in a block.
func perUnit[Q scalar]() int32 { var q Q; return BlockSize / 4 / int32(q.quads()) }

// advance goes on to the warp's next step.
func (s *strip[Q]) advance(t gpu.Thread) {
	s.next.chunk += int32(t.BlockDimX()/warpSize) * stepUnits
	if s.next.chunk >= s.units {
		s.next = walk{s.next.tile + int32(t.GridDimX()), int32(t.Warp()) * stepUnits}
	}
}

// request loads a batch of the next step, if there is one.
func (s *strip[Q]) request(t gpu.Thread, z size, k int) {
	var q Q
	if s.next.tile*tileRows >= z.Rows || s.next.chunk >= s.units {
		return
	}
	u := min(s.next.chunk+int32(k*warpUnits+t.Lane()/laneQuads), s.units-1)
	block := s.next.tile*s.all + s.first
	from := s.planes[int(block*perUnit[Q]()+u)*unitQuads:][:unitQuads]
	b := &s.ahead[k]
	for j := range b.planes {
		b.planes[j] = from[j*laneQuads+t.Lane()%laneQuads]
	}
	at := int(block+u/perUnit[Q]())*laneQuads + t.Lane()%laneQuads
	b.d = s.scales[at]
	if q.offset() {
		b.m = s.minima[at]
	}
}
