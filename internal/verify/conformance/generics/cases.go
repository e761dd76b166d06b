package generics

import (
	_ "embed"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/generics/fold"
)

//go:embed kernels.go
var source string

// Cases returns the cases of the package.
func Cases() []check.Case {
	return []check.Case{
		scaling[int8]("int8"), scaling[int32]("int32"), scaling[uint16]("uint16"), scaling[int]("int"),
		scaling[float32]("float32"), scaling[float64]("float64"),
		converting[int16, int64]("int16 to int64"), converting[int16, float64]("int16 to float64"),
		converting[float32, int64]("float32 to int64"), converting[float32, float64]("float32 to float64"),
		{Name: "array type", Run: turning},
		{Name: "operation", Run: applying},
		{Name: "kernel of another package", Run: folding},
		{Name: "kernel of another package, own types", Run: foldingPoints},
		{Name: "fault names the instance", Run: faulting},
	}
}

func scaling[T int8 | int32 | uint16 | int | float32 | float64](name string) check.Case {
	return check.Case{Name: "number type", Run: func(r *check.Run) {
		x := check.Upload[T](r, 1, 2, 3, 100)
		r.Launch(Scale(r.Stream, check.Threads(4), x, pair[T]{3, 1}.swapped().swapped()))
		three := T(3)
		check.Want(r, x, 4, 7, 10, 100*three+1)
	}}.Of(name)
}

func converting[From int16 | float32, To int64 | float64](name string) check.Case {
	return check.Case{Name: "two type parameters", Run: func(r *check.Run) {
		in, out := check.Upload[From](r, 1, -7, 300), check.Make[To](r, 3)
		r.Launch(Convert(r.Stream, check.Threads(1), in, out))
		check.Want(r, out, 4, -4, 303)
	}}.Of(name)
}

func turning(r *check.Run) {
	three := check.Upload(r, [3]int32{1, 2, 3}, [3]int32{}, [3]int32{})
	r.Launch(Turn(r.Stream, check.Threads(1), three))
	check.Want(r, three, [3]int32{1, 2, 3}, [3]int32{3, 2, 1}, [3]int32{3, 3, 3})
	five := check.Upload(r, [5]int32{1, 2, 3, 4, 5}, [5]int32{}, [5]int32{})
	r.Launch(Turn(r.Stream, check.Threads(1), five))
	check.Want(r, five, [5]int32{1, 2, 3, 4, 5}, [5]int32{5, 4, 3, 2, 1}, [5]int32{5, 5, 5, 5, 5})
}

func applying(r *check.Run) {
	x := check.Upload[int32](r, 5, 3)
	r.Launch(Apply(r.Stream, check.Threads(1), x, less{}))
	check.Want(r, x, 3, 3)
	r.Launch(Apply(r.Stream, check.Threads(1), x, nearest{fold.Span{First: 40}}))
	check.Want(r, x, 43, 3)
}

func folding(r *check.Run) {
	in, out := make([]int32, 200), check.Make[int32](r, 2)
	sums, largest := [2]int32{}, [2]int32{}
	for i := range in {
		in[i] = int32(i * 37 % 101)
		if i > 0 && i < 1+2*64 {
			block := (i - 1) / 64
			sums[block] += in[i]
			largest[block] = max(largest[block], in[i])
		}
	}
	data, span := check.Upload(r, in...), fold.Span{First: 1, Step: 1}
	r.Launch(Fold[int32, fold.Sum[int32]](r.Stream, device.Blocks{X: 2}, data, out, span))
	check.Want(r, out, sums[:]...)
	r.Launch(Fold[int32, fold.Max[int32]](r.Stream, device.Blocks{X: 2}, data, out, span))
	check.Want(r, out, largest[:]...)
	long := check.Make[uint64](r, 1)
	r.Launch(FoldLong(r.Stream, device.Blocks{X: 1}, check.Upload[uint64](r, 1, 1<<60, 2, 1<<61), long, fold.Span{Step: 2}))
	check.Want(r, long, 2)
}

func foldingPoints(r *check.Run) {
	in, out := check.Upload(r, Point{1, 2, 3}, Point{10, 20, 30}, Point{0.5, 0.25, -128}), check.Make[Point](r, 1)
	r.Launch(SumPoints(r.Stream, device.Blocks{X: 1}, in, out, fold.Span{Step: 1}))
	check.Want(r, out, Point{11.5, 22.25, -95})
}

func faulting(r *check.Run) {
	r.Launch(Apply(r.Stream, check.Threads(1), check.Make[int32](r, 1), less{}))
	r.Fault(device.Fault{
		Kernel: "apply[int32, less]", File: "kernels.go", Line: check.Line(source, "faults"), Message: "index out of range [1] with length 1",
	})
}
