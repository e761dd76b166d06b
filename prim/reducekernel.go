package prim

import "github.com/gopherwarp/gopherwarp/gpu"

// reduceWidth is the number of threads in a block of the reductions.
const reduceWidth = 256

// blockJoin returns the reduction of v over a block of reduceWidth threads to all of them.
func blockJoin[T number, O operator](t gpu.Thread, parts *[reduceWidth / gpu.WarpSize]T, v, nothing T) T {
	v = warpJoin[T, O](t, v)
	lane, warp := t.Lane(), t.Warp()
	if lane == 0 {
		parts[warp] = v
	}
	t.Sync()
	v = nothing
	if lane < len(parts) {
		v = parts[lane]
	}
	return warpJoin[T, O](t, v)
}

// reduceBlocks reduces, in each block, the elements that its threads visit in strides of the grid.
//
//gpu:kernel
//gpu:block 256
//gpu:instance reduceInt32 = reduceBlocks[add|least|greatest, int32, [4]int32]
//gpu:instance reduceInt64 = reduceBlocks[add|least|greatest, int64, [2]int64]
//gpu:instance reduceUint32 = reduceBlocks[add|least|greatest, uint32, [4]uint32]
//gpu:instance reduceUint64 = reduceBlocks[add|least|greatest, uint64, [2]uint64]
//gpu:instance reduceFloat32 = reduceBlocks[add|least|greatest, float32, [4]float32]
//gpu:instance reduceFloat64 = reduceBlocks[add|least|greatest, float64, [2]float64]
func reduceBlocks[O operator, T number, A pack[T]](t gpu.Thread, x []A, partial []T, nothing T) {
	parts := gpu.Shared[[reduceWidth / gpu.WarpSize]T](t)
	r := nothing
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * reduceWidth {
		r = join[T, O](r, joinPack[T, A, O](x[i]))
	}
	r = blockJoin[T, O](t, parts, r, nothing)
	if t.ThreadX() == 0 {
		partial[t.BlockX()] = r
	}
}

// reduceRest reduces, in one block, the results of the blocks and the elements that fill no pack.
//
//gpu:kernel
//gpu:block 256
//gpu:instance reduceTail = reduceRest[int32|int64|uint32|uint64|float32|float64, add|least|greatest]
func reduceRest[T number, O operator](t gpu.Thread, partial, rest, out []T, nothing T) {
	parts := gpu.Shared[[reduceWidth / gpu.WarpSize]T](t)
	r := nothing
	for i := t.ThreadX(); i < len(partial); i += reduceWidth {
		r = join[T, O](r, partial[i])
	}
	if i := t.ThreadX(); i < len(rest) {
		r = join[T, O](r, rest[i])
	}
	r = blockJoin[T, O](t, parts, r, nothing)
	if t.ThreadX() == 0 {
		out[0] = r
	}
}
