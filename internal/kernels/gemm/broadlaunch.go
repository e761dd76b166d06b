package gemm

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

type broadLauncher[T gpu.Half] func(s *device.Stream, g device.Blocks, a, b, c device.TensorMap[gpu.Panel[T]], work device.Slice[[4]float32], j job) error

const (
	broadColumns = 192 // of op(B) in a tile of broad
	broadSteps   = 32  // of a tile, from which broad is faster than few on an H200
)

// broadTiles returns the number of tiles of broad.
func broadTiles(s Shape) int { return ceil(s.N, broadColumns) * ceil(s.M, tileRows) }

// broadBest reports whether broad is faster than few for results without bias, residual and activation: there are too many tiles of few for
// two blocks each, and few enough of broad.
func broadBest(s Shape, cores int) bool {
	return s.M > fewRows && fewBest(s, cores) && partsOf(s, cores) == 1 && 2*broadTiles(s) <= cores && ceil(s.K, depth) >= broadSteps
}

// broadWorkspace returns the number of elements through which the blocks of broad exchange sums.
func broadWorkspace(s Shape) int { return 2 * broadTiles(s) * 4 * halfTile }

// broadens reports whether broad can compute the product, and is faster than few.
func (p planner[T, C]) broadens() bool {
	return p.x.broad != nil && p.x.Activation == None && p.x.Bias.Len() == 0 && p.x.Residual.Len() == 0 && broadBest(p.Shape, p.info.Cores) && p.x.Workspace.Len() >= broadWorkspace(p.Shape)
}

// broad launches broad.
func (p planner[T, C]) broad(s *device.Stream) error {
	c := mapOf(any(p.x.C).(device.Slice[T]), matrix{p.M, p.width, p.LDC})
	work := device.View[[4]float32](p.x.Workspace.Slice(0, broadWorkspace(p.Shape)))
	return p.x.broad(s, device.Blocks{X: 2 * broadTiles(p.Shape)}, mapOf(p.x.A, p.a()), mapOf(p.x.B, p.b()), c, work, p.job())
}
