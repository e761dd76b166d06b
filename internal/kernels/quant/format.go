package quant

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/weights/blocks"
)

// Format is a format of package weights/blocks.
type Format int

// The formats.
const (
	Q4_0 Format = iota
	Q4_1
	Q5_0
	Q5_1
	Q8_0
	Q2_K
	Q3_K
	Q4_K
	Q5_K
	Q6_K
)

// layout is what distinguishes a format from others: its name, how its blocks in a file are unpacked, the numbers of lower and upper
// bits of a weight in planes, the integers of groups, the factor of the minima, whether Minima of a matrix has elements (otherwise the
// scales are the minima), and the weights and bytes of a block in a file.
type layout struct {
	name         string
	unpack       func(block []byte, to *unpacked)
	lower, upper int
	group        group
	factor       float32
	minima       bool
	size, bytes  int
}

// layouts has a row for each format.
var layouts = [...]layout{
	Q4_0: {"Q4_0", unpackQ40, 4, 0, single, -8, false, blocks.Size, 18},
	Q4_1: {"Q4_1", unpackQ41, 4, 0, single, 1, true, blocks.Size, 20},
	Q5_0: {"Q5_0", unpackQ50, 4, 1, single, -16, false, blocks.Size, 22},
	Q5_1: {"Q5_1", unpackQ51, 4, 1, single, 1, true, blocks.Size, 24},
	Q8_0: {"Q8_0", unpackQ80, 8, 0, single, 0, false, blocks.Size, 34},
	Q2_K: {"Q2_K", unpackQ2K, 2, 0, quartered, -1, true, blocks.SizeK, 84},
	Q3_K: {"Q3_K", unpackQ3K, 2, 1, halved, -4, false, blocks.SizeK, 110},
	Q4_K: {"Q4_K", unpackQ4K, 4, 0, whole, -1, true, blocks.SizeK, 144},
	Q5_K: {"Q5_K", unpackQ5K, 4, 1, whole, -1, true, blocks.SizeK, 176},
	Q6_K: {"Q6_K", unpackQ6K, 4, 2, halved, -32, false, blocks.SizeK, 210},
}

// valid reports whether there is such a format.
func (f Format) valid() bool { return f >= 0 && int(f) < len(layouts) }

// planes returns the number of 32-bit integers that the weights of a block are in.
func (f Format) planes() int { return layouts[f].lower + layouts[f].upper }

// blocks returns the number of blocks of 32 weights in a block of a file.
func (f Format) blocks() int { return layouts[f].size / BlockSize }

// groups reports whether blocks have groups: integers by which the scale and the minimum of a superblock are multiplied.
func (f Format) groups() bool { return f.blocks() > 1 }

// dots reports whether there are kernels for the tensor cores of GPUs.
func (f Format) dots() bool {
	return f == Q4_0 || f == Q4_1 || f == Q8_0 || f == Q4_K || f == Q6_K
}

// family returns the kernels for the format.
func (f Format) family() family {
	switch f {
	case Q4_0, Q4_1:
		return family{TileQ4, BatchQ4, WidenQ4, WidenQ4F16, GatherMixed}
	case Q8_0:
		return family{TileQ8, BatchQ8, WidenQ8, WidenQ8F16, GatherQ8}
	}
	return family{TileMixed, BatchMixed, WidenMixed, WidenMixedF16, GatherMixed}
}

// family is the kernels for CPUs, and those that convert weights.
type family struct {
	tile   func(s *device.Stream, grid device.Blocks, planes device.Slice[uint32], scales, minima device.Slice[dtype.F16], groups device.Slice[uint16], factor float32, x, sums, y device.Slice[float32], add bool, of fields) error
	batch  func(s *device.Stream, grid device.Blocks, planes device.Slice[uint32], scales, minima device.Slice[dtype.F16], groups device.Slice[uint16], factor float32, x, y device.Slice[float32], size Shape, vectors int, add bool, of fields) error
	widen  func(s *device.Stream, grid device.Blocks, planes device.Slice[uint32], scales, minima device.Slice[dtype.F16], groups device.Slice[uint16], factor float32, out device.Slice[[8]dtype.BF16], size Shape, of fields) error
	fine   func(s *device.Stream, grid device.Blocks, planes device.Slice[uint32], scales, minima device.Slice[dtype.F16], groups device.Slice[uint16], factor float32, out device.Slice[[8]dtype.F16], size Shape, of fields) error
	gather func(s *device.Stream, grid device.Blocks, planes device.Slice[uint32], scales, minima device.Slice[dtype.F16], groups device.Slice[uint16], factor float32, rows device.Slice[int32], y device.Slice[float32], size Shape, of fields) error
}
