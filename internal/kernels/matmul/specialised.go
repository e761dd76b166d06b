package matmul

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// specialised computes a tile of 128x256 elements per block. One warp group copies panels and gives its registers to
// the two others, each of which multiplies 64 rows. Blocks go down groups of tiles, as in wide.
//
//gpu:kernel
//gpu:block 384
func specialised(t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[dtype.BF16]], c [][2]dtype.BF16, s Shape) {
	stages := gpu.Shared[[4]oblong[dtype.BF16]](t)
	full, empty := gpu.Shared[[4]gpu.Barrier](t), gpu.Shared[[4]gpu.Barrier](t)
	row0, col0 := tileOf(t.BlockX(), s)
	if t.ThreadX() == 0 {
		for i := range full {
			full[i].Init(t, 1)
			empty[i].Init(t, 2)
		}
	}
	t.Sync()
	steps := (s.K + 63) / 64
	if t.WarpGroup() == 0 {
		t.GiveRegisters(40)
		if t.ThreadX() == 0 {
			for k := range steps {
				empty[k&3].Wait(t, k>>2+1)
				bringWide(t, &stages[k&3], &full[k&3], source[dtype.BF16]{a, b, row0, col0, k * 64, 0})
			}
		}
		return
	}
	t.TakeRegisters(232)
	half := (t.WarpGroup() - 1) & 1
	var acc [128]float32
	for k := 0; ; {
		full[k&3].Wait(t, k>>2)
		t.FenceProducts()
		for step := range 4 {
			gpu.MultiplyAsync(t, &acc, gpu.AlongRows(stages[k&3].left[half][:], step), gpu.DownColumns(stages[k&3].right[:], step))
		}
		t.CommitProducts()
		gpu.AwaitProducts(t, &acc, 1)
		if k > 0 && t.ThreadX()%128 == 0 {
			empty[(k-1)&3].Arrive(t)
		}
		if k++; k >= steps { // at least one iteration, so that ptxas sees that the accumulator belongs to the products
			break
		}
	}
	gpu.AwaitProducts(t, &acc, 0)
	row, col := row0+half*64+t.Warp()%4*16+t.Lane()/4, col0+t.Lane()%4*2
	for j := range 32 {
		put(c, place{row, col + j*8}, s, [4]float32{acc[4*j], acc[4*j+1], acc[4*j+2], acc[4*j+3]})
	}
}

// oblong holds the operands of a step for a tile of 128x256 elements.
type oblong[T gpu.Half] struct {
	left  [2][1]gpu.Panel[T]
	right [4]gpu.Panel[T]
}

// bringWide starts the copies of a stage.
func bringWide[T gpu.Half](t gpu.Thread, to *oblong[T], full *gpu.Barrier, s source[T]) {
	full.Expect(t, 6*gpu.PanelBytes)
	for i := range 2 {
		s.a.Fetch(t, &to.left[i][0], gpu.Corner{X: s.depth, Y: s.row + i*64, Z: s.matrix}, full)
	}
	for i := range 4 {
		s.b.Fetch(t, &to.right[i], gpu.Corner{X: s.col + i*64, Y: s.depth, Z: s.matrix}, full)
	}
}
