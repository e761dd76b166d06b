package suite

import (
	_ "embed"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/report"
)

// Groups of cases. Stream has the kernels of BabelStream, and bars of its own. The kernels of Prim, Products and Llama are not
// written for this suite and have no twins.
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
	Llama    = "llama"
)

//go:embed twins.cu
var twins string

// Suite returns the cases and their twins.
func Suite() harness.Suite { return harness.Suite{Cases: cases(), Twins: twins} }

// cases returns all cases in the order in which they run.
func cases() []harness.Case {
	return []harness.Case{
		{Name: "copy32", Group: Stream, About: "BabelStream's copy in float32", Big: 1 << 28, Small: 1 << 16, Make: newCopy32},
		{Name: "mul32", Group: Stream, About: "BabelStream's mul in float32", Big: 1 << 28, Small: 1 << 16, Make: newMul32},
		{Name: "add32", Group: Stream, About: "BabelStream's add in float32", Big: 1 << 28, Small: 1 << 16, Make: newAdd32},
		{Name: "triad32", Group: Stream, About: "BabelStream's triad in float32", Big: 1 << 28, Small: 1 << 16, Make: newTriad32},
		{Name: "dot32", Group: Stream, About: "BabelStream's dot in float32", Big: 1 << 28, Small: 5000, Make: newDot32},
		{Name: "copy64", Group: Stream, About: "BabelStream's copy in float64", Big: 1 << 27, Small: 1 << 16, Make: newCopy64},
		{Name: "mul64", Group: Stream, About: "BabelStream's mul in float64", Big: 1 << 27, Small: 1 << 16, Make: newMul64},
		{Name: "add64", Group: Stream, About: "BabelStream's add in float64", Big: 1 << 27, Small: 1 << 16, Make: newAdd64},
		{Name: "triad64", Group: Stream, About: "BabelStream's triad in float64", Big: 1 << 27, Small: 1 << 16, Make: newTriad64},
		{Name: "dot64", Group: Stream, About: "BabelStream's dot in float64", Big: 1 << 27, Small: 5000, Make: newDot64},

		{Name: "sum", Group: Reduce, About: "sum of float32: block trees, then a block for their sums", Big: 1 << 28, Small: 5000, Make: newSum},
		{Name: "scan", Group: Reduce, About: "running sums of int32: blocks, their sums, offsets", Big: 1 << 28, Small: 5000, Make: newScan},
		{Name: "histogram", Group: Reduce, About: "256 counters of bytes: shared, then global atomics", Big: 1 << 30, Small: 5008, Make: newHistogram},
		{Name: "monte-carlo", Group: Reduce, About: "pi from random points, 1024 a thread", Big: 1 << 20, Small: 1 << 9, Make: newMonteCarlo},

		{Name: "transpose-naive", Group: Move, About: "n x n float32, an element a thread", Big: 16384, Small: 100, Make: newTransposeNaive},
		{Name: "transpose", Group: Move, About: "n x n float32 through tiles in shared memory", Big: 16384, Small: 128, Make: newTransposeTiled},

		{Name: "softmax", Group: Rows, About: "softmax of rows of 16384 float32", Big: 16384, Small: 3, Make: newSoftmax},
		{Name: "layer-norm", Group: Rows, About: "layer norm of rows of 4096 float32", Big: 65536, Small: 3, Make: newLayerNorm},

		{Name: "n-body", Group: Points, About: "accelerations of n bodies by each other, tiled", Big: 1 << 16, Small: 512, Make: newNBody},
		{Name: "mandelbrot32", Group: Points, About: "n x n points in float32", Big: 8192, Small: 128, Make: newMandelbrot32},
		{Name: "mandelbrot64", Group: Points, About: "n x n points in float64", Big: 8192, Small: 128, Make: newMandelbrot64},
		{Name: "black-scholes", Group: Points, About: "option prices", Big: 1 << 26, Small: 1 << 14, Make: newBlackScholes},

		{Name: "stencil7", Group: Grids, About: "7 points of an n x n x n grid of float32", Big: 640, Small: 40, Make: newStencil7},
		{Name: "stencil27", Group: Grids, About: "27 points of an n x n x n grid of float32", Big: 640, Small: 40, Make: newStencil27},
		{Name: "spmv", Group: Grids, About: "sparse matrix by vector, CSR, a row a thread", Big: 1 << 23, Small: 1 << 12, Make: newSpMV},

		{Name: "sgemm32", Group: Dense, About: "n x n product, 32 x 32 tiles, an element a thread", Big: 4096, Small: 64, Make: newSGEMM32},
		{Name: "sgemm64", Group: Dense, About: "n x n product, 64 x 64 tiles, 4 x 4 a thread", Big: 4096, Small: 128, Make: newSGEMM64},

		{Name: "prim-sum", Group: Prim, About: "prim.Sum of float32", Big: 1 << 28, Small: 5000, Make: newPrimSum},
		{Name: "prim-scan", Group: Prim, About: "prim.InclusiveScan of int32", Big: 1 << 28, Small: 5000, Make: newPrimScan[int32]},
		{Name: "prim-scan-f32", Group: Prim, About: "prim.InclusiveScan of float32", Big: 1 << 28, Small: 5000, Make: newPrimScan[float32]},
		{Name: "prim-scan-i64", Group: Prim, About: "prim.InclusiveScan of int64", Big: 1 << 27, Small: 5000, Make: newPrimScan[int64]},
		{Name: "prim-sort", Group: Prim, About: "prim.Sort of uint32", Big: 1 << 26, Small: 5000, Make: newPrimSort(anyBits[uint32])},
		{Name: "prim-sort-f32", Group: Prim, About: "prim.Sort of float32", Big: 1 << 26, Small: 5000, Make: newPrimSort(harness.Uniform[float32])},
		{Name: "prim-sort-u64", Group: Prim, About: "prim.Sort of uint64", Big: 1 << 26, Small: 5000, Make: newPrimSort(anyBits[uint64])},
		{Name: "prim-sort-pairs", Group: Prim, About: "prim.SortPairs of uint32 and their indices", Big: 1 << 26, Small: 5000, Make: newPrimSortPairs},
		{Name: "prim-count", Group: Prim, About: "prim.Count of bytes", Big: 1 << 30, Small: 5000, Make: newPrimCount},
		{Name: "prim-select", Group: Prim, About: "prim.Select of a half of uint32", Big: 1 << 28, Small: 5000, Make: newPrimSelect},
		{Name: "prim-top", Group: Prim, About: "prim.Top, the greatest 1000 of float32", Big: 1 << 28, Small: 5000, Make: newPrimTop},
		{Name: "prim-transpose", Group: Prim, About: "prim.Transpose of n x n uint32", Big: 16384, Small: 100, Make: newPrimTranspose},

		{Name: "product-f32", Group: Products, About: "n x n product of float32 without tensor cores", Big: 4096, Small: 64, Make: newProduct32},
		{Name: "product-bf16", Group: Products, About: "n x n product of bfloat16", Big: 8192, Small: 64, Make: newProductBF16},
		{Name: "product-bf16-4k", Group: Products, About: "the same, smaller", Big: 4096, Small: 64, Make: newProductBF16},
		{Name: "product-fp8", Group: Products, About: "n x n product of 8-bit floats, the right one transposed", Big: 8192, Small: 64, Make: newProductFP8},

		{Name: "llama-step", Group: Llama, About: "a token of a model with n layers, the shape of Llama 3.1 8B and bfloat16 weights, after 128 tokens", Big: bigLayers, Small: 2, Make: newLlamaStep("BF16")},
		{Name: "llama-step-q4", Group: Llama, About: "the same with weights in Q4_K_M", Big: bigLayers, Small: 2, Make: newLlamaStep("Q4_K_M")},
		{Name: "llama-prompt", Group: Llama, About: "2,048 tokens of a prompt, bfloat16 weights", Big: bigLayers, Small: 2, Make: newLlamaPrompt},
	}
}
