package gemm

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Form is a way to compute a product of matrices of 16-bit elements.
type Form int

// The forms. Tiles, Split and Few are for Hopper's tensor cores.
const (
	Auto  Form = iota // the fastest one, by the sizes and by the workspace
	Tiles             // whole tiles
	Split             // equal shares of the steps of all tiles for each multiprocessor; a second kernel adds the sums
	Few               // layout NT, and C in groups of eight columns: the blocks of a cluster share a tile
	Lean              // at most 32 rows of op(A), and layout NT: weights go from memory to registers
	Plain             // any shape and any device
)

// String returns the form's name.
func (f Form) String() string {
	return [...]string{"auto", "tiles", "split", "few", "lean", "plain"}[f]
}

// The costs of forms on an H200, from which choose computes times.
const (
	stepTime = 0.65 // microseconds for a step of a tile of 128x256 elements
	joinTime = 5.0  // microseconds for a launch of join
	joinRate = 2e6  // bytes of segments that are stored and read again in a microsecond
)

// planner chooses and launches the kernels of a product.
type planner[T gpu.Half, C any] struct {
	Shape
	width int // of C
	info  device.Info
	x     halfOf[T, C]
}

// job returns the sizes of a product for Hopper's kernels.
func jobOf(s Shape, width int, a Activation) job {
	j := job{M: int32(s.M), N: int32(width), K: int32(s.K), Columns: tileCols, Second: tileCols / 2, Activation: a}
	if a == SwiGLU {
		j.Columns, j.Second = tileCols/2, int32(width)
	}
	return j
}

func (p planner[T, C]) job() job {
	j := jobOf(p.Shape, p.width, p.x.Activation)
	j.Weights = p.x.Weights
	return j
}

// choose returns the fastest form that fits.
func (p planner[T, C]) choose() Form {
	switch {
	case p.fits(Lean) && leanBest(p.Shape, p.info.Cores):
		return Lean
	case p.fits(Few) && fewBest(p.Shape, p.info.Cores):
		return Few
	case !p.fits(Split) && !p.fits(Tiles):
		return Plain
	case !p.fits(Split):
		return Tiles
	case !p.fits(Tiles):
		return Split
	}
	return formOf(p.job(), p.info.Cores)
}

// formOf returns the faster one of Tiles and Split.
func formOf(j job, cores int) Form {
	n, steps, blocks := int(j.tiles()), int(j.steps()), blocksOf(j, cores)
	whole := float64(ceil(n, cores)*steps) * stepTime
	shared := float64(ceil(n*steps, blocks))*stepTime + joinTime + float64(4*workspaceOf(j, cores))/joinRate
	if shared < whole {
		return Split
	}
	return Tiles
}

// blocksOf returns the number of blocks that share the steps of all tiles. A few idle multiprocessors are better than blocks with parts
// of two tiles, because each part is stored and loaded again.
func blocksOf(j job, cores int) int {
	n := int(j.tiles())
	if even := cores / max(1, n) * n; even > 0 && even >= cores*7/8 {
		return min(even, n*int(j.steps()))
	}
	return min(n*int(j.steps()), cores)
}

// fits reports whether a form can compute the product.
func (p planner[T, C]) fits(f Form) bool {
	k := p.x.kernels(p.Layout)
	switch {
	case f == Plain:
		return true
	case p.info.Kind != "interp" && p.info.Kind != "cuda" || p.info.Capability != device.Capability{Major: 9}, p.K == 0, p.LDA%8 != 0, p.LDB%8 != 0, !p.x.A.Aligned(16), !p.x.B.Aligned(16), max(p.M, p.N, p.K, p.LDC) > 1<<28, p.M*p.width > math.MaxInt32, int(p.job().tiles())*int(p.job().steps()) > math.MaxInt32/p.info.Cores:
		return false
	case f == Tiles:
		return k.resident != nil && p.tileable()
	case f == Few:
		return p.x.few[0] != nil && p.Layout == NT && inEights(p.Shape, p.width) && inVectors(p.x.C) && inVectors(p.x.Residual) && inVectors(p.x.Bias) && inVectors(p.x.Workspace)
	case f == Lean:
		i := leanOf(p.Shape)
		return i >= 0 && p.x.lean[i] != nil
	}
	return k.parts != nil && p.x.Workspace.Len() >= workspaceOf(p.job(), p.info.Cores)
}

// tileable reports whether whole tiles can be stored in C.
func (p planner[T, C]) tileable() bool {
	if _, ok := any(p.x.C).(device.Slice[float32]); !ok {
		return p.LDC%8 == 0 && p.x.C.Aligned(16) && p.x.Residual.Aligned(16) && p.x.Bias.Aligned(16) && (p.x.Activation == None || p.x.kernels(p.Layout).curved != nil)
	}
	return p.x.Bias.Len() == 0 && p.x.Activation == None && (p.x.Residual.Len() == 0 || p.x.Residual == p.x.C)
}

// workspaceOf returns the number of elements of all segments.
func workspaceOf(j job, cores int) int {
	return (int(j.tiles()) + cores) * int(j.strands()) * strand
}

// Fine reports whether float32 products of float16 elements are as fast as those of bfloat16 elements, for which there are more kernels.
func Fine(d *device.Device, s Shape) bool {
	return leanOf(s) < 0 && !fewBest(s, d.Info().Cores)
}

// Workspace returns the number of elements of the workspace that lets a product of 16-bit elements be as fast as possible.
func Workspace(d *device.Device, s Shape, a Activation) int {
	if s.M < 1 || s.N < 1 || s.K < 1 {
		return 0
	}
	width := s.N
	if a == SwiGLU {
		width /= 2
	}
	j, cores := jobOf(s, width, a), d.Info().Cores
	switch {
	case leanOf(s) >= 0 && leanBest(s, cores):
		return 0
	case fewBest(s, cores) && inEights(s, width):
		return fewWorkspace(s, max(partsOf(s, cores), slimParts(s, cores)))
	case formOf(j, cores) == Split:
		return workspaceOf(j, cores)
	}
	return 0
}
