package matmul

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// panelled computes a tile of 128x128 elements per block, 64x128 per warp group, with products of panels, which
// bulk copies load in four stages.
//
//gpu:kernel
//gpu:block 256
func panelled(t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[dtype.BF16]], c [][2]dtype.BF16, s Shape) {
	stages := gpu.Shared[[4]square](t)
	full := gpu.Shared[[4]gpu.Barrier](t)
	row0, col0 := t.BlockX()*128, t.BlockY()*128
	half := t.WarpGroup() & 1
	if t.ThreadX() == 0 {
		for i := range full {
			full[i].Init(t, 1)
		}
	}
	t.Sync()
	steps := (s.K + 63) / 64
	if t.ThreadX() == 0 {
		for k := range min(steps, 3) {
			bring(t, &stages[k], &full[k], source[dtype.BF16]{a, b, row0, col0, k * 64, 0})
		}
	}
	var acc [64]float32
	for k := range steps {
		full[k&3].Wait(t, k>>2)
		t.FenceProducts()
		for step := range 4 {
			gpu.MultiplyAsync(t, &acc, gpu.AlongRows(stages[k&3].left[half][:], step), gpu.DownColumns(stages[k&3].right[:], step))
		}
		t.CommitProducts()
		gpu.AwaitProducts(t, &acc, 0)
		t.Sync() // both groups have finished with the stage
		if next := k + 3; next < steps && t.ThreadX() == 0 {
			bring(t, &stages[next&3], &full[next&3], source[dtype.BF16]{a, b, row0, col0, next * 64, 0})
		}
	}
	row, col := row0+half*64+t.Warp()%4*16+t.Lane()/4, col0+t.Lane()%4*2
	for j := range 16 {
		put(c, place{row, col + j*8}, s, [4]float32{acc[4*j], acc[4*j+1], acc[4*j+2], acc[4*j+3]})
	}
}

// source locates the operands of a step.
type source[T gpu.Half] struct {
	a, b            gpu.TensorMap[gpu.Panel[T]]
	row, col, depth int
	matrix          int
}

// square holds the operands of a step for a tile of 128x128 elements. The left one has panels for
// each warp group.
type square struct {
	left  [2][1]gpu.Panel[dtype.BF16]
	right [2]gpu.Panel[dtype.BF16]
}

// bring starts the copies of a stage.
func bring(t gpu.Thread, to *square, full *gpu.Barrier, s source[dtype.BF16]) {
	full.Expect(t, 4*gpu.PanelBytes)
	for i := range 2 {
		s.a.Fetch(t, &to.left[i][0], gpu.Corner{X: s.depth, Y: s.row + i*64}, full)
		s.b.Fetch(t, &to.right[i], gpu.Corner{X: s.col + i*64, Y: s.depth}, full)
	}
}
