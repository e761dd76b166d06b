package driver

import (
	"fmt"
	"math"
	"slices"
)

// Fit describes the properties of a launch that a Variant may rely on.
type Fit struct {
	// Narrow means that code that computes indices in 32 bits can run the launch. All 64-bit integer arguments, all
	// slice lengths, and the number of threads along each axis are in the range of an int32, and at least 1<<16 away
	// from its limits. The margin leaves room for constants that kernels add.
	Narrow bool
	// Line means that the grid has one dimension and that its blocks are independent of each other,
	// so that a back end may distribute the threads differently over blocks.
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

func (p *Plan) aligned() bool { return p.unaligned() < 0 }

// unaligned returns the index of a parameter that is a slice and not aligned, or -1.
func (p *Plan) unaligned() int {
	for i := range p.kernel.Params {
		if x := &p.kernel.Params[i]; x.Elem > 0 && p.words[x.Offset/8]%SliceAlign != 0 {
			return i
		}
	}
	return -1
}

// The limits of Fit.Narrow.
const (
	narrowMargin = 1 << 16

	mostNarrow  = math.MaxInt32 - narrowMargin
	leastNarrow = math.MinInt32 + narrowMargin
)

func (p *Plan) narrow() bool { return p.wide() < 0 && p.threads() <= mostNarrow }

// wide returns the offset of an integer that is not narrow, or -1.
func (p *Plan) wide() int {
	for _, offset := range p.kernel.Integers {
		if v := int64(p.words[offset/8]); v < leastNarrow || v > mostNarrow {
			return offset
		}
	}
	return -1
}

// threads returns the largest number of threads along an axis.
func (p *Plan) threads() int {
	return max(p.blocks[0]*p.block[0], p.blocks[1]*p.block[1], p.blocks[2]*p.block[2])
}

// checkAssumptions returns an error if a launch with properties f does not meet the assumptions of the kernel.
func (p *Plan) checkAssumptions(f Fit) error {
	k := p.kernel
	if k.Assumes.Narrow && !f.Narrow {
		offset := p.wide()
		if offset < 0 {
			return fmt.Errorf("device: %s: %d threads along an axis, must be at most %d: %w", k.Name, p.threads(), mostNarrow, ErrAssumption)
		}
		i := slices.IndexFunc(k.Params, func(x Param) bool { return offset < x.Offset+x.Size })
		return fmt.Errorf("device: %s: a number of %d in %s, must be between %d and %d: %w", k.Name, int64(p.words[offset/8]), k.Params[i].Name, leastNarrow, mostNarrow, ErrAssumption)
	}
	if k.Assumes.Aligned && !f.Aligned {
		return fmt.Errorf("device: %s: %s does not start at a multiple of %d bytes: %w", k.Name, k.Params[p.unaligned()].Name, SliceAlign, ErrAssumption)
	}
	return nil
}
