package collectives

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/gpu/collective"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// affine composes two maps x -> m*x + c, with m in the upper and c in the lower half: an operation that is not
// commutative.
type affine struct{}

func (affine) Combine(a, b uint64) uint64 {
	m, c := uint32(b>>32), uint32(b)
	return uint64(uint32(a>>32)*m)<<32 | uint64(uint32(a)*m+c)
}

// combined are the results of a thread.
type combined[T gpu.Number] struct {
	Warp, WarpUntil, WarpBefore                   T
	Block, Until, UntilTotal, Before, BeforeTotal T
	Repeated, Other                               T
}

//gpu:kernel
//gpu:instance CombineInt32 = combine[int32, collective.Sum[int32]]
//gpu:instance CombineUint64 = combine[uint64, affine]
//gpu:instance CombineFloat32 = combine[float32, collective.Max[float32]]
func combine[T gpu.Number, O collective.Op[T]](t gpu.Thread, start T, x []T, out []combined[T]) {
	block := t.BlockX() * t.BlockDimX() * t.BlockDimY() * t.BlockDimZ()
	i := block + (t.ThreadZ()*t.BlockDimY()+t.ThreadY())*t.BlockDimX() + t.ThreadX()
	v := x[i]
	r := combined[T]{Warp: collective.WarpReduce[O](t, v), WarpUntil: collective.WarpScan[O](t, v)}
	r.WarpBefore = collective.WarpExclusiveScan[O](t, v, start)
	r.Block = collective.BlockReduce[O](t, v)
	r.Until, r.UntilTotal = collective.BlockScan[O](t, v)
	r.Before, r.BeforeTotal = collective.BlockExclusiveScan[O](t, v, start)
	for k := range 3 {
		r.Repeated += collective.BlockReduce[O](t, v+T(k))
	}
	r.Other = collective.BlockReduce[collective.Min[T]](t, v)
	out[i] = r
}

// combination is what combine computes for blocks of n threads.
func combination[T gpu.Number, O collective.Op[T]](n int, start T, x []T) []combined[T] {
	out := make([]combined[T], len(x))
	for from := 0; from < len(x); from += n {
		block, results := x[from:from+n], out[from:from+n]
		for warp := 0; warp < n; warp += gpu.WarpSize {
			end := min(n, warp+gpu.WarpSize)
			for i := warp; i < end; i++ {
				results[i].Warp = fold[T, O](block[warp], block[warp+1:end])
				results[i].WarpUntil = fold[T, O](block[warp], block[warp+1:i+1])
				results[i].WarpBefore = fold[T, O](start, block[warp:i])
			}
		}
		for i := range results {
			r := &results[i]
			r.Block = fold[T, O](block[0], block[1:])
			r.Until, r.UntilTotal = fold[T, O](block[0], block[1:i+1]), r.Block
			r.Before, r.BeforeTotal = fold[T, O](start, block[:i]), fold[T, O](start, block)
			r.Other = fold[T, collective.Min[T]](block[0], block[1:])
			for k := range 3 {
				var more []T
				for _, v := range block {
					more = append(more, v+T(k))
				}
				r.Repeated += fold[T, O](more[0], more[1:])
			}
		}
	}
	return out
}

func fold[T gpu.Number, O collective.Op[T]](v T, rest []T) T {
	var op O
	for _, w := range rest {
		v = op.Combine(v, w)
	}
	return v
}

// launcher is a launcher of combine.
type launcher[T gpu.Number] func(s *device.Stream, g device.Grid, start T, x device.Slice[T], out device.Slice[combined[T]]) error

// combines runs combine with blocks of several shapes.
func combines[T gpu.Number, O collective.Op[T]](launch launcher[T]) func(r *check.Run) {
	return func(r *check.Run) {
		for _, block := range []device.Dim{{X: 256}, {X: 1}, {X: 33}, {X: 10, Y: 7}, {X: 3, Y: 4, Z: 5}, {X: 1000}} {
			n := block.X * max(1, block.Y) * max(1, block.Z)
			x := numbers[T](2 * n)
			out := check.Make[combined[T]](r, len(x))
			r.Launch(launch(r.Stream, device.Grid{Blocks: device.Dim{X: 2}, Block: block}, 5, check.Upload(r, x...), out))
			check.Want(r, out, combination[T, O](n, 5, x)...)
		}
	}
}

// numbers returns n integers from 0 to 4095 in no particular order.
func numbers[T gpu.Number](n int) []T {
	x := make([]T, n)
	state := uint32(2463534242)
	for i := range x {
		state = state*1664525 + 1013904223
		x[i] = T(state >> 20)
	}
	return x
}
