package quant

import "github.com/gopherwarp/gopherwarp/gpu"

// share is a lane's share of a unit: planes, scales, minima and groups of four rows.
type share struct {
	planes  [laneQuads]quad
	upper   [2]quad // in formats that have them, planes with the upper bits
	d, m, g pair
}

// strip is the units that a warp multiplies: of the tiles from BlockX on, every n-th step.
type strip[Q scalar] struct {
	planes                 []quad
	scales, minima, groups []pair
	slice
	units int32 // of a row in the slice
	all   int32 // blocks of a row
	next  walk  // the step to request next
	ahead [2]share
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
func (s *strip[Q]) request(t gpu.Thread, z size, of fields, k int) {
	var q Q
	if s.next.tile*tileRows >= z.Rows || s.next.chunk >= s.units {
		return
	}
	u := min(s.next.chunk+int32(k*warpUnits+t.Lane()/laneQuads), s.units-1)
	block := s.next.tile*s.all + s.first
	lane, quads := int32(t.Lane()%laneQuads), laneQuads*q.planes(of)/perUnit[Q]()
	from := s.planes[(block*perUnit[Q]()+u)*quads:][:quads]
	b := &s.ahead[k]
	for j := range b.planes {
		b.planes[j] = from[int32(q.lower(j, of)*laneQuads)+lane]
	}
	for j := range q.uppers() {
		b.upper[j] = from[int32(of.upper(j)*laneQuads)+lane]
	}
	at := (block+u/perUnit[Q]())*laneQuads + lane
	if q.grouped() {
		b.g = s.groups[at]
		at = q.scaleOf(block+u, of)*laneQuads + lane
	}
	b.d = s.scales[at]
	if q.offset() {
		b.m = s.minima[at]
	}
}
