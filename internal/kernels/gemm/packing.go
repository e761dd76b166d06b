package gemm

import "github.com/gopherwarp/gopherwarp/dtype"

//gpu:instance BlockedNN = blocked[float32, single, rowMajor]
//gpu:instance BlockedNT = blocked[float32, single, columnMajor]
//gpu:instance BlockedNTBF16 = blocked[dtype.BF16, brain, columnMajor]

// number is an element type of weights on the CPU.
type number interface{ float32 | dtype.BF16 }

// format converts elements to float32.
type format[T number] interface{ wide(x T) float32 }

type (
	single struct{} // float32
	brain  struct{} // bfloat16
)

func (single) wide(x float32) float32   { return x }
func (brain) wide(x dtype.BF16) float32 { return x.Float32() }

// order is the order of the elements of op(B) in memory.
type order interface {
	// index returns the index of an element of B whose rows or columns are ld elements apart.
	index(row, col, ld int) int
}

type (
	rowMajor    struct{} // op(B) = B
	columnMajor struct{} // op(B) is B transposed
)

func (rowMajor) index(row, col, ld int) int    { return row*ld + col }
func (columnMajor) index(row, col, ld int) int { return col*ld + row }
