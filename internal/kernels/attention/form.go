package attention

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// form is a form of Store and Attend.
type form int

// The forms. Those for GPUs have a token's keys one after another; lanes has them transposed.
const (
	lanes  form = iota // blocks of 16 threads: for CPUs
	plain              // any elements and any GPU
	matrix             // elements of two bytes, on the tensor cores of compute capability 8.0
)

// Transposed reports whether the keys in caches are transposed on the stream's device. Attend then needs no scratch memory, and Prefill
// has no kernel.
func Transposed(s *device.Stream) bool { return row.FormFor(s) == row.Plain }

// formFor returns the form for a stream's device.
func (c Cache[T]) formFor(s *device.Stream) form {
	if Transposed(s) {
		return lanes
	}
	if c.hasMatrix() && s.Device().Info().Capability.Major >= 8 {
		return matrix
	}
	return plain
}

// hasMatrix reports whether decode has an instance for the cache.
func (c Cache[T]) hasMatrix() bool {
	return (c.Dim == 64 || c.Dim == 128) && row.Elements[T]() == 8
}

// attend attends in a form.
func (c Cache[T]) attend(s *device.Stream, f form, x Queries[T]) error {
	if f == lanes {
		return c.attendPages(s, x)
	}
	d := decodedOf(c.CacheShape, c.Table, x)
	if err := c.attendParts(s, f, d, x); err != nil || d.grid.Z == 1 {
		return err
	}
	return join(s, d, x)
}

//gpu:instance lanes32 = attendLanes[float32, row.F32]
//gpu:instance lanesBF16 = attendLanes[dtype.BF16, row.BF16]

func (c Cache[T]) attendPages(s *device.Stream, x Queries[T]) error {
	grid := device.Blocks{X: x.Tokens.Len(), Y: x.Heads}
	switch c := any(c).(type) {
	case Cache[float32]:
		x := any(x).(Queries[float32])
		return lanes32(s, grid, sixteen(x.Q), sixteen(x.O), sixteen(c.Keys), sixteen(c.Values), c.Table, x.Tokens, c.CacheShape)
	case Cache[dtype.BF16]:
		x := any(x).(Queries[dtype.BF16])
		return lanesBF16(s, grid, sixteen(x.Q), sixteen(x.O), sixteen(c.Keys), sixteen(c.Values), c.Table, x.Tokens, c.CacheShape)
	}
	panic("BUG: attention: no such element type")
}

//gpu:instance direct32 = attendDirect[float32, row.F32]
//gpu:instance directBF16 = attendDirect[dtype.BF16, row.BF16]

func (c Cache[T]) attendParts(s *device.Stream, f form, d decoded, x Queries[T]) error {
	switch c := any(c).(type) {
	case Cache[float32]:
		x := any(x).(Queries[float32])
		return direct32(s, d.grid, x.Q, four(c.Keys), four(c.Values), c.Table, x.Tokens, d.decoding, d.sums, d.states, eight(x.O))
	case Cache[dtype.BF16]:
		x := any(x).(Queries[dtype.BF16])
		if f == matrix {
			return d.bfloat16(s, c, x)
		}
		return directBF16(s, d.grid, x.Q, four(c.Keys), four(c.Values), c.Table, x.Tokens, d.decoding, d.sums, d.states, eight(x.O))
	}
	panic("BUG: attention: no such element type")
}

//gpu:instance decodeBF16 = decode[dtype.BF16, row.BF16, dim64|dim128]

// decoded is a launch of decode or attendDirect.
type decoded struct {
	decoding
	grid   device.Blocks
	sums   device.Slice[[8]float32]
	states device.Slice[state]
}

// ringed returns the grid of decode.
func (d decoded) ringed() device.Grid {
	return device.Grid{Blocks: d.grid, Block: device.Dim{X: decodeThreads}, Shared: ringBytes}
}

func (d decoded) bfloat16(s *device.Stream, c Cache[dtype.BF16], x Queries[dtype.BF16]) error {
	launch := decodeBF16[dtype.BF16, row.BF16, dim128]
	if c.Dim == 64 {
		launch = decodeBF16[dtype.BF16, row.BF16, dim64]
	}
	return launch(s, d.ringed(), pairs(x.Q), eight(c.Keys), eight(c.Values), c.Table, x.Tokens, d.decoding, d.sums, d.states, eight(x.O))
}

//gpu:instance join32 = joinParts[float32, row.F32]
//gpu:instance joinBF16 = joinParts[dtype.BF16, row.BF16]

// join adds up what the blocks of a launch have stored.
func join[T Element](s *device.Stream, d decoded, x Queries[T]) error {
	grid := device.Blocks{X: x.Tokens.Len(), Y: x.Heads}
	parts, sums := uint32(d.grid.Z), device.View[float32](d.sums)
	switch o := any(x.O).(type) {
	case device.Slice[float32]:
		return join32(s, grid, x.Tokens, d.decoding, parts, sums, d.states, o)
	case device.Slice[dtype.BF16]:
		return joinBF16(s, grid, x.Tokens, d.decoding, parts, sums, d.states, o)
	}
	panic("BUG: attention: no such element type")
}

// decodedOf returns a launch for queries of a cache with a table.
func decodedOf[T Element](c CacheShape, table device.Slice[int32], x Queries[T]) decoded {
	group := x.Heads / c.KeyHeads
	d := decoded{decoding: decoding{
		Pages: uint32(c.Pages), KeyHeads: uint32(c.KeyHeads), Heads: uint32(x.Heads), Group: uint32(group), Tiles: uint32(tilesOf(group)),
		Sequences: uint32(table.Len() / c.MaxPages), MaxPages: uint32(c.MaxPages), Limit: uint32(min(c.MaxPages*PageTokens, math.MaxInt32)),
		Width: uint32(c.Dim / 8), Scale: float32(math.Log2E / math.Sqrt(float64(c.Dim))), Settled: x.Settled,
	}}
	n := x.Tokens.Len() * c.KeyHeads * tilesOf(group)
	parts := 1
	if x.Scratch.Len() > 0 {
		parts = c.parts(n, x.Context)
	}
	d.grid = device.Blocks{X: x.Tokens.Len(), Y: c.KeyHeads * tilesOf(group), Z: parts}
	d.sums, d.states = device.None[[8]float32](), device.None[state]()
	if heads := x.Tokens.Len() * x.Heads * parts; parts > 1 {
		d.sums = eight(x.Scratch.Slice(0, heads*c.Dim))
		d.states = device.View[state](x.Scratch.Slice(heads*c.Dim, heads*(c.Dim+2)))
	}
	return d
}

const (
	fewBlocks  = 264     // that an H200 runs at a time
	mostBlocks = 8 * 264 // enough that the last ones to end leave few idle
	longPart   = 32      // pages that are worth a block of their own if more blocks run than at a time
	shortPart  = 2       // pages that are worth a block of their own otherwise
	shortPages = 4       // pages that are not worth a second kernel
)

// parts returns the number of blocks that share the tokens of each of n queries.
func (s CacheShape) parts(n, context int) int {
	pages := s.MaxPages
	if context > 0 {
		pages = min(pages, (context+PageTokens-1)/PageTokens)
	}
	if pages <= shortPages {
		return 1
	}
	return max(1, min(fewBlocks/n, pages/shortPart), min(mostBlocks/n, pages/longPart))
}

// Workspace returns the number of elements of scratch memory for at most the given number of queries of some heads.
func (s CacheShape) Workspace(tokens, heads int) int {
	group := heads / s.KeyHeads
	return min(mostBlocks, tokens*s.KeyHeads*tilesOf(group)*s.MaxPages) * min(group, tileHeads) * (s.Dim + 2)
}

// tilesOf returns the number of blocks that share heads of queries.
func tilesOf(heads int) int { return (heads + tileHeads - 1) / tileHeads }

// pairs, quads, four, eight and sixteen return views of 4 bytes, of 16 bytes, or of several elements.
func pairs[T row.Number](x device.Slice[T]) device.Slice[uint32]    { return device.View[uint32](x) }
func quads[T row.Number](x device.Slice[T]) device.Slice[quad]      { return device.View[quad](x) }
func four[T row.Number](x device.Slice[T]) device.Slice[[4]T]       { return device.View[[4]T](x) }
func eight[T row.Number](x device.Slice[T]) device.Slice[[8]T]      { return device.View[[8]T](x) }
func words[T row.Number](x device.Slice[T]) device.Slice[row.Words] { return device.View[row.Words](x) }
func sixteen[T row.Number](x device.Slice[T]) device.Slice[[row.Lanes]T] {
	return device.View[[row.Lanes]T](x)
}
