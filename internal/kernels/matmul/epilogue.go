package matmul

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/math32"
)

//gpu:instance persistent[dtype.BF16, toBF16, asItIs|rectified|sigmoidal]
//gpu:instance PersistentF16 = persistent[dtype.F16, toF16, asItIs]

// format rounds sums to the element type of a result.
type format[T any] interface{ round(x float32) T }

type (
	toBF16 struct{}
	toF16  struct{}
)

func (toBF16) round(x float32) dtype.BF16 { return dtype.BF16From32(x) }
func (toF16) round(x float32) dtype.F16   { return dtype.F16From32(x) }

// activation computes an element of a result from its sum.
type activation interface{ of(x float32) float32 }

type (
	asItIs    struct{}
	rectified struct{} // max(x, 0)
	sigmoidal struct{} // x times the logistic function of x (SiLU)
)

func (asItIs) of(x float32) float32    { return x }
func (rectified) of(x float32) float32 { return max(x, 0) }
func (sigmoidal) of(x float32) float32 { return math32.FastDiv(x, 1+math32.FastExp(-x)) }
