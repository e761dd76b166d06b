package collectives

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu/collective"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Cases returns the cases of the package.
func Cases() []check.Case {
	return []check.Case{
		{Name: "sums", Run: combines[int32, collective.Sum[int32]](CombineInt32)},
		{Name: "maxima", Run: combines[float32, collective.Max[float32]](CombineFloat32)},
		{Name: "operation that is not commutative", Run: combines[uint64, affine](CombineUint64)},
		check.Case{Name: "sort", Run: sorts(SortInts, math.MinInt32)}.Of("int32"),
		check.Case{Name: "sort", Run: sorts(SortFloats, math.NaN())}.Of("float64"),
		{Name: "exchange", Run: exchanges},
	}
}
