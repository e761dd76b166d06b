package suite

import "github.com/gopherwarp/gopherwarp/device"

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

// Groups of cases. Stream is BabelStream, which has bars of its own.
const (
	Stream = "stream"
	Reduce = "reduce"
	Move   = "move"
	Rows   = "rows"
	Points = "points"
	Grids  = "grids"
	Dense  = "dense"
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
	}
}
