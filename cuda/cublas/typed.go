package cublas

import "github.com/gopherwarp/gopherwarp/dtype"

// Number is an element type of a MixedProduct or Fusion.
type Number interface {
	float32 | float64 | dtype.F16 | dtype.BF16 | dtype.F8E4M3 | dtype.F8E5M2 | int8 | int32
}

// MixedProduct is C = Alpha*A*B + Beta*C. TransA transposes A, and TransB transposes B. Sums are
// computed in float64 for float64 elements, in int32 for int8 elements, and in float32 for all
// other elements.
type MixedProduct[A, C Number] struct {
	Alpha, Beta    float64
	A, B           Matrix[A]
	C              Matrix[C]
	TransA, TransB bool
	N              int // number of products, as in Batch; 0 means 1
	StrideA        int
	StrideB        int
	StrideC        int
}

// GemmEx multiplies matrices, on tensor cores if the device has tensor cores for the types. The
// supported combinations of A and C are: F16 with F16 or float32, BF16 with BF16 or float32,
// float32 with float32, float64 with float64, and int8 with int32. For other combinations, the
// error is NotSupported.
func GemmEx[A, C Number](h *Handle, p MixedProduct[A, C]) error {
	c := h.begin(gemmBatchedEx)
	in := dataType[A]()
	a := p.A.size(p.TransA)
	c.product(a, p.B.size(p.TransB), p.C.size(false))
	c.put(transposition(p.TransB), transposition(p.TransA), p.C.Cols, p.C.Rows, a.cols)
	n := max(1, p.N)
	c.putNumber(0, in, p.Alpha)
	putMixed(c, "B", p.B, batch{n, p.StrideB})
	putMixed(c, "A", p.A, batch{n, p.StrideA})
	c.putNumber(1, in, p.Beta)
	putMixed(c, "C", p.C, batch{n, p.StrideC})
	c.put(n, computeType(in), defaultAlgorithm)
	return c.end()
}

// putMixed appends matrices of a type: address, type, stride and distance.
func putMixed[T Number](c *call, name string, m Matrix[T], b batch) {
	checkBatch(c, name, m, b)
	at := c.n
	putMatrix(c, name, m) // address and stride
	stride := c.args[at+1]
	c.args[at+1] = uintptr(dataType[T]()) // the library expects the type between these
	c.put(int(stride), b.stride)
}

// Types of elements (cudaDataType) and of sums (cublasComputeType_t).
const (
	real32, real64, real16  = 0, 1, 2
	int8s, int32s, bfloat16 = 3, 10, 14
	real8E4M3, real8E5M2    = 28, 29

	sum32, sum64, sumInt = 68, 70, 72

	defaultAlgorithm = -1
)

func dataType[T Number]() int {
	var zero T
	switch any(zero).(type) {
	case float64:
		return real64
	case dtype.F16:
		return real16
	case dtype.BF16:
		return bfloat16
	case dtype.F8E4M3:
		return real8E4M3
	case dtype.F8E5M2:
		return real8E5M2
	case int8:
		return int8s
	case int32:
		return int32s
	}
	return real32
}

func computeType(in int) int {
	switch in {
	case real64:
		return sum64
	case int8s:
		return sumInt
	}
	return sum32
}

// putNumber stores the i-th scalar, in the type of sums of products of elements of type in, and
// appends its address.
func (c *call) putNumber(i, in int, v float64) {
	switch computeType(in) {
	case sum64:
		putScalar(c, i, v)
	case sumInt:
		c.putInt(i, int32(v))
	default:
		putScalar(c, i, float32(v))
	}
}
