package driver

import "math"

// Fit describes the properties of a launch that a Variant may rely on.
type Fit struct {
	// Narrow means that code which computes indices in 32 bits can run the launch: every 64-bit
	// integer among the arguments, including the lengths of slices, is between -1<<31 and
	// 1<<31-1, and the grid has fewer than 1<<31 threads along each axis.
	Narrow bool
	// Line means that the grid has one dimension and its blocks are independent of each other,
	// so that threads may be assigned to other blocks.
	Line bool
	// Aligned means that every slice among the arguments starts at a multiple of SliceAlign.
	Aligned bool
}

// Fit returns the properties of the launch.
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
