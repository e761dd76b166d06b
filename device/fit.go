package device

import "math"

// Fit says what a variant may count on in a launch.
type Fit struct {
	// Narrow says that code which computes indices in 32 bits may run the launch: every
	// 64-bit integer among the arguments, the lengths of slices too, lies between -1<<31 and
	// 1<<31-1, and along each axis the grid has fewer than 1<<31 threads.
	Narrow bool
	// Line says that the grid has one dimension, and that its blocks have nothing to do with
	// each other: the threads may be dealt to other blocks.
	Line bool
	// Aligned says that every slice among the arguments starts at a multiple of SliceAlign.
	Aligned bool
}

// SliceAlign is the bytes of the widest access of a thread, and what slices that take a whole buffer are aligned to.
const SliceAlign = 16

// Fit returns what a variant may count on in the launch.
func (p *Plan) Fit() Fit {
	line := p.blocks[1]|p.blocks[2]|p.block[1]|p.block[2] == 1
	return Fit{
		Narrow:  p.narrow(),
		Line:    line && p.grid.Cluster.X == 0 && !p.grid.Cooperative,
		Aligned: p.aligned(),
	}
}

func (p *Plan) aligned() bool {
	for i := range p.kernel.Params {
		if x := &p.kernel.Params[i]; x.Elem > 0 && p.words[x.Offset/8]%SliceAlign != 0 {
			return false
		}
	}
	return true
}

func (p *Plan) narrow() bool {
	for _, offset := range p.kernel.Integers {
		if v := int64(p.words[offset/8]); v != int64(int32(v)) {
			return false
		}
	}
	most := max(p.blocks[0]*p.block[0], p.blocks[1]*p.block[1], p.blocks[2]*p.block[2])
	return most <= math.MaxInt32
}
