package generics

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/generics/fold"
)

// pair is a generic type among the parameters.
type pair[T any] struct{ A, B T }

func (p pair[T]) swapped() pair[T] { return pair[T]{p.B, p.A} }

func scaled[T dtype.Number](x T, by pair[T]) T { return by.A*x + by.B }

//gpu:kernel
//gpu:instance scale[int8|int32|uint16|int]
//gpu:instance scale[float32|float64]
func scale[T dtype.Number](t gpu.Thread, x []T, by pair[T]) {
	if i := t.GlobalX(); i < len(x) {
		x[i] = scaled(x[i], by)
	}
}

// convert has two type parameters, and all pairs of types.
//
//gpu:kernel
//gpu:instance convert[int16|float32, int64|float64]
func convert[From, To dtype.Number](t gpu.Thread, in []From, out []To) {
	for i, x := range in {
		out[i] = To(x) + To(len(in))
	}
}

// row is an array type, which has another length in each instance.
type row interface{ [3]int32 | [5]int32 }

//gpu:kernel
//gpu:instance turn[[3]int32|[5]int32]
func turn[R row](t gpu.Thread, rows []R) {
	tile := gpu.Shared[R](t)
	*tile = rows[0]
	for i := range len(*tile) {
		rows[1][i] = (*tile)[len(*tile)-1-i]
	}
	for i := 0; i < len(rows[2]); i++ {
		rows[2][i] = int32(len(rows[2]))
	}
}

// op is a method as a type parameter.
type op[T any] interface{ do(a, b T) T }

type (
	less    struct{}
	nearest struct{ fold.Span } // of another size than zero
)

func (less) do(a, b int32) int32 { return min(a, b) }

func (n nearest) do(a, b int32) int32 { return b + int32(n.First) }

//gpu:kernel
//gpu:instance apply[int32, less|nearest]
func apply[T any, O op[T]](t gpu.Thread, x []T, how O) {
	x[0] = how.do(x[0], x[1]) // faults
}

// Point is a type that package fold knows nothing of.
type Point struct {
	X, Y float32
	N    int8
}

type addPoints struct{}

func (addPoints) Neutral() Point { return Point{} }

func (addPoints) Apply(a, b Point) Point { return Point{a.X + b.X, a.Y + b.Y, a.N + b.N} }

//gpu:instance fold.Fold[int32, fold.Sum[int32]|fold.Max[int32]]
//gpu:instance FoldLong = fold.Fold[uint64, fold.Max[uint64]]
//gpu:instance SumPoints = fold.Fold[Point, addPoints]
