package gemm

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// castLaunchers launch cast with tiles of 64, 128 and 192 columns.
type castLaunchers[T gpu.Half] [castWidest]func(s *device.Stream, g device.Blocks, a, b, c device.TensorMap[gpu.Panel[T]], j job) error

// castWidest is the largest number of panels that a tile of cast is wide.
const castWidest = 3

// castSteps is the number of steps up to which cast is faster on an H200 than few with several blocks for each tile.
const castSteps = 128

// castGrid returns the blocks of cast for tiles that are some panels wide.
func castGrid(s Shape, panels int) device.Blocks {
	return device.Blocks{X: 2 * ceil(s.M, 2*gpu.PanelRows), Y: ceil(s.N, panels*gpu.PanelRows)}
}

// castPanelsOf returns how many panels wide the tiles of cast are, or 0 if few is faster. The tiles are as small as possible for all blocks to
// run at the same time.
func castPanelsOf(s Shape, cores int) int {
	if s.M <= fewRows || !fewBest(s, cores) || partsOf(s, cores) > 1 && ceil(s.K, depth) > castSteps {
		return 0
	}
	panels := 1
	for ; panels <= castWidest; panels++ {
		if g := castGrid(s, panels); g.X*g.Y <= cores {
			break
		}
	}
	if g := castGrid(s, panels); panels > castWidest || g.X*g.Y < cores*2/3 {
		return 0
	}
	return panels
}

// casts returns castPanelsOf, or 0 if cast cannot compute the product.
func (p planner[T, C]) casts() int {
	if p.x.cast[0] == nil || p.x.Activation != None || p.x.Bias.Len() > 0 || p.x.Residual.Len() > 0 {
		return 0
	}
	return castPanelsOf(p.Shape, p.info.Cores)
}

// cast launches cast with tiles that are some panels wide.
func (p planner[T, C]) cast(s *device.Stream, panels int) error {
	c := mapOf(any(p.x.C).(device.Slice[T]), matrix{p.M, p.width, p.LDC})
	return p.x.cast[panels-1](s, castGrid(p.Shape, panels), mapOf(p.x.A, p.a()), mapOf(p.x.B, p.b()), c, p.job())
}
