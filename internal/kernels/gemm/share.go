package gemm

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// fewRows is the smallest number of rows of op(A) in a tile of few.
const fewRows = 64

// mostParts is the maximum number of blocks that share a tile, the largest cluster of every GPU.
const mostParts = 8

type fewLauncher[T gpu.Half, C any] func(s *device.Stream, g device.Grid, a, b device.TensorMap[gpu.Panel[T]], work device.Slice[[4]float32], c, residual device.Slice[[eight]C], bias device.Slice[float32], j thin) error

// partsOf returns the number of blocks that share the sums of a tile of few: as many as a device with some multiprocessors can run at the
// same time, at most four, or six of small tiles with many steps. These are two blocks for each multiprocessor, or one if tiles have more
// rows, and of the clusters of more than two of those, only some fit in the device.
func partsOf(s Shape, cores int) int {
	parts, tiles, most := 1, fewTiles(s), 2*cores
	if s.M > fewRows {
		most = cores
	}
	for next := 2; next <= min(6, ceil(s.K, depth)) && next*tiles <= most; next++ {
		if next > 4 && (s.M > fewRows || s.K < next*manySteps*depth) {
			break
		}
		if s.M <= fewRows && next == 3 || s.M > fewRows && next > 2 && next*tiles > cores*7/8 {
			continue
		}
		parts = next
	}
	return parts
}

// manySteps is the number of steps of each block from which more than four blocks share a tile.
const manySteps = 32

// slim reports whether the tiles of a product have 64 columns: there is an instance for that, and tiles of 128 columns would be so few
// that four blocks must share each of them.
func (p planner[T, C]) slim() bool {
	return p.x.few[2] != nil && p.x.Activation != SwiGLU && slimParts(p.Shape, p.info.Cores) > 0
}

// slimParts is partsOf for tiles of 64 columns, or 0 if those would be slower: with more tiles than multiprocessors, and, on an H200, for
// up to 32 rows.
func slimParts(s Shape, cores int) int {
	tiles := ceil(s.N, fewColumns/2)
	if s.M <= fewRows/2 || s.M > fewRows || tiles > cores {
		return 0
	}
	return min(3, cores*7/4/tiles, ceil(s.K, depth))
}

// fewColumns is the number of columns of op(B) in a tile of few, unless the tile is slim.
const fewColumns = 128

// fewBest reports whether Few is faster than Tiles and Split: for one row of small tiles, and for up to two of large ones if all blocks run
// at the same time.
func fewBest(s Shape, cores int) bool {
	return s.Layout == NT && (s.M <= fewRows || s.M <= 4*fewRows && fewTiles(s) <= cores)
}

// inVectors reports whether few can access the elements of a slice by 16 bytes at once, with indices of 32 bits.
func inVectors[T any](x device.Slice[T]) bool { return x.Aligned(16) && x.Len() <= math.MaxInt32 }

// inEights reports whether few can store the columns of C.
func inEights(s Shape, width int) bool { return width%eight == 0 && s.LDC%eight == 0 }

// fewTiles returns the number of tiles of few.
func fewTiles(s Shape) int { return ceil(s.N, fewColumns) * ceil(s.M, fewRowsOf(s)) }

// fewRowsOf returns the number of rows of op(A) in a tile of few, if there is an instance for it.
func fewRowsOf(s Shape) int {
	if s.M > fewRows {
		return 2 * fewRows
	}
	return fewRows
}

// fewWorkspace returns the number of elements through which the blocks of few exchange sums.
func fewWorkspace(s Shape, parts int) int {
	if parts == 1 {
		return 0
	}
	return fewTiles(s) * parts * fewColumns * fewRowsOf(s)
}

// parts returns the fastest number of parts that the workspace allows.
func (p planner[T, C]) parts() int {
	n := partsOf(p.Shape, p.info.Cores)
	if p.slim() {
		n = slimParts(p.Shape, p.info.Cores)
	}
	if p.x.Workspace.Len() < fewWorkspace(p.Shape, n) {
		return 1
	}
	return n
}

// HalfInParts is Half in the form Few with a number of blocks that share each sum, from 1 to 8, for tests and benchmarks. The error is
// ErrShape if that does not fit the shape or the workspace.
func HalfInParts(s *device.Stream, parts int, shape Shape, x Operands[dtype.BF16, dtype.BF16, dtype.BF16]) error {
	p, err := plan(s, shape, bf16Half(x))
	if err != nil || shape.M == 0 || shape.N == 0 {
		return err
	}
	if !p.fits(Few) || parts < 1 || parts > min(mostParts, ceil(shape.K, depth)) || p.x.Workspace.Len() < fewWorkspace(p.Shape, parts) {
		return fmt.Errorf("%w: %d parts of %+v with a workspace of %d elements", ErrShape, parts, shape, x.Workspace.Len())
	}
	return p.few(s, parts)
}

// few launches the kernel with a number of parts.
func (p planner[T, C]) few(s *device.Stream, parts int) error {
	j := thin{p.job(), int32(p.LDC / eight)}
	j.Columns, j.Second = fewColumns, fewColumns/2
	if p.x.Activation == SwiGLU {
		j.Columns, j.Second = fewColumns/2, int32(p.width)
	}
	rows, threads, panels, launch := fewRows, threadsOf[twoGroups](), smallRing, p.x.few[0]
	switch {
	case p.M > fewRows && p.x.few[1] != nil:
		rows, panels, launch = 2*fewRows, largeRing, p.x.few[1]
	case p.slim():
		j.Columns, threads, launch = fewColumns/2, threadsOf[oneGroup](), p.x.few[2]
	}
	g := device.Grid{
		Blocks: device.Dim{X: ceil(p.width, int(j.Columns)) * parts, Y: ceil(p.M, rows)},
		Block:  device.Dim{X: threads},
		Shared: panels * gpu.PanelBytes,
	}
	work := device.None[[4]float32]()
	if parts > 1 {
		g.Cluster = device.Dim{X: parts}
		work = device.View[[4]float32](p.x.Workspace.Slice(0, fewWorkspace(p.Shape, parts)))
	}
	return launch(s, g, mapOf(p.x.A, p.a()), mapOf(p.x.B, p.b()), work, device.View[[eight]C](p.x.C), device.View[[eight]C](p.x.Residual), p.x.Bias, j)
}
