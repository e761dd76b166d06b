package device

import "math"

// Narrow reports whether code that computes indices in 32 bits may run the launch: every
// 64-bit integer among the arguments, the lengths of slices too, lies between -1<<31 and
// 1<<31-1, and along each axis the grid has fewer than 1<<31 threads.
func (p *Plan) Narrow() bool {
	for _, offset := range p.kernel.Integers {
		if v := int64(p.words[offset/8]); v != int64(int32(v)) {
			return false
		}
	}
	blocks, block := p.Grid()
	for i := range blocks {
		if blocks[i]*block[i] > math.MaxInt32 {
			return false
		}
	}
	return true
}
