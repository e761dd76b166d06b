package suite

import (
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
)

// Case is one benchmark.
type Case struct {
	Name  string // of the case, which twins and peers share
	Group string // cases of a group are shown together
	About string // in a line
	// Big is the size for GPUs and Small the one for CPUs and tests; what it counts is the
	// case's business: elements, rows, the side of a square.
	Big, Small int
	// make prepares the case at a size.
	make func(b *bench, size int) work
}

// work is a case at a size, on buffers that hold its inputs.
type work struct {
	bytes float64 // that a perfect program moves to and from the device's memory, or 0
	flops float64 // floating-point operations of the algorithm, or 0
	ours  []launch
	// tuned has our launches as an expert writes them, in Go; nil where ours cannot be bettered.
	tuned []launch
	// best has the launches of the twin as an expert writes it; the literal twin's are those
	// of ours by name. Nil where the literal twin cannot be bettered.
	best []launch
	// more are contenders that are no launches of kernels of this package: calls of others, and what NVIDIA's
	// libraries and the bare hardware do. Where ours is nil the first of them is Ours.
	more []contender
	// restore, if not nil, enqueues what brings back inputs that a run destroys.
	restore func(s *device.Stream) error
	// check compares the outputs, which have been downloaded, with plain Go.
	check func() error
}

// launch is one kernel's part in a run.
type launch struct {
	name   string // of our kernel, or of a twin
	kernel any    // the generated launcher; nil for a twin
	grid   device.Grid
	args   []argument
}

// twin returns the launch of the twin with a name and a grid, on the same arguments.
func (l launch) twin(name string, g device.Grid) launch {
	return launch{name: name, grid: g, args: l.args}
}

// Groups of cases. Stream is BabelStream, which has bars of its own; Prim and Products are not written for this suite
// and have no twins.
const (
	Stream   = report.Stream
	Reduce   = "reduce"
	Move     = "move"
	Rows     = "rows"
	Points   = "points"
	Grids    = "grids"
	Dense    = "dense"
	Prim     = "prim"
	Products = "products"
)

// Cases returns all cases in the order in which they run.
func Cases() []Case {
	return []Case{
		{"copy32", Stream, "BabelStream's copy in float32", 1 << 28, 1 << 16, newCopy32},
		{"mul32", Stream, "BabelStream's mul in float32", 1 << 28, 1 << 16, newMul32},
		{"add32", Stream, "BabelStream's add in float32", 1 << 28, 1 << 16, newAdd32},
		{"triad32", Stream, "BabelStream's triad in float32", 1 << 28, 1 << 16, newTriad32},
		{"dot32", Stream, "BabelStream's dot in float32", 1 << 28, 5000, newDot32},
		{"copy64", Stream, "BabelStream's copy in float64", 1 << 27, 1 << 16, newCopy64},
		{"mul64", Stream, "BabelStream's mul in float64", 1 << 27, 1 << 16, newMul64},
		{"add64", Stream, "BabelStream's add in float64", 1 << 27, 1 << 16, newAdd64},
		{"triad64", Stream, "BabelStream's triad in float64", 1 << 27, 1 << 16, newTriad64},
		{"dot64", Stream, "BabelStream's dot in float64", 1 << 27, 5000, newDot64},

		{"sum", Reduce, "sum of float32: block trees, then a block for their sums", 1 << 28, 5000, newSum},
		{"scan", Reduce, "running sums of int32: blocks, their sums, offsets", 1 << 28, 5000, newScan},
		{"histogram", Reduce, "256 counters of bytes: shared, then global atomics", 1 << 30, 5008, newHistogram},
		{"monte-carlo", Reduce, "pi from random points, 1024 a thread", 1 << 20, 1 << 9, newMonteCarlo},

		{"transpose-naive", Move, "n x n float32, an element a thread", 16384, 100, newTransposeNaive},
		{"transpose", Move, "n x n float32 through tiles in shared memory", 16384, 128, newTransposeTiled},

		{"softmax", Rows, "softmax of rows of 16384 float32", 16384, 3, newSoftmax},
		{"layer-norm", Rows, "layer norm of rows of 4096 float32", 65536, 3, newLayerNorm},

		{"n-body", Points, "accelerations of n bodies by each other, tiled", 1 << 16, 512, newNBody},
		{"mandelbrot32", Points, "n x n points in float32", 8192, 128, newMandelbrot32},
		{"mandelbrot64", Points, "n x n points in float64", 8192, 128, newMandelbrot64},
		{"black-scholes", Points, "option prices", 1 << 26, 1 << 14, newBlackScholes},

		{"stencil7", Grids, "7 points of an n x n x n grid of float32", 640, 40, newStencil7},
		{"stencil27", Grids, "27 points of an n x n x n grid of float32", 640, 40, newStencil27},
		{"spmv", Grids, "sparse matrix by vector, CSR, a row a thread", 1 << 23, 1 << 12, newSpMV},

		{"sgemm32", Dense, "n x n product, 32 x 32 tiles, an element a thread", 4096, 64, newSGEMM32},
		{"sgemm64", Dense, "n x n product, 64 x 64 tiles, 4 x 4 a thread", 4096, 128, newSGEMM64},

		{"prim-sum", Prim, "prim.Sum of float32", 1 << 28, 5000, newPrimSum},
		{"prim-scan", Prim, "prim.InclusiveScan of int32", 1 << 28, 5000, newPrimScan[int32]},
		{"prim-scan-f32", Prim, "prim.InclusiveScan of float32", 1 << 28, 5000, newPrimScan[float32]},
		{"prim-scan-i64", Prim, "prim.InclusiveScan of int64", 1 << 27, 5000, newPrimScan[int64]},
		{"prim-sort", Prim, "prim.Sort of uint32", 1 << 26, 5000, newPrimSort(anyBits[uint32])},
		{"prim-sort-f32", Prim, "prim.Sort of float32", 1 << 26, 5000, newPrimSort(uniform[float32])},
		{"prim-sort-u64", Prim, "prim.Sort of uint64", 1 << 26, 5000, newPrimSort(anyBits[uint64])},
		{"prim-sort-pairs", Prim, "prim.SortPairs of uint32 and their indices", 1 << 26, 5000, newPrimSortPairs},
		{"prim-count", Prim, "prim.Count of bytes", 1 << 30, 5000, newPrimCount},
		{"prim-select", Prim, "prim.Select of a half of uint32", 1 << 28, 5000, newPrimSelect},
		{"prim-top", Prim, "prim.Top, the greatest 1000 of float32", 1 << 28, 5000, newPrimTop},
		{"prim-transpose", Prim, "prim.Transpose of n x n uint32", 16384, 100, newPrimTranspose},

		{"product-f32", Products, "n x n product of float32 without tensor cores", 4096, 64, newProduct32},
		{"product-bf16", Products, "n x n product of bfloat16", 8192, 64, newProductBF16},
		{"product-bf16-4k", Products, "the same, smaller", 4096, 64, newProductBF16},
		{"product-fp8", Products, "n x n product of 8-bit floats, the right one transposed", 8192, 64, newProductFP8},
	}
}
