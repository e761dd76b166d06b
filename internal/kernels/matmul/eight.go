package matmul

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// ring is the number of stages of eight: the rest of shared memory holds the result.
const ring = 3

// narrow holds the operands of a step for a tile of 128x256 elements of one byte: 128 elements of
// the sum.
type narrow struct {
	left  [2][1]gpu.Panel[dtype.F8E4M3]
	right [4]gpu.Panel[dtype.F8E4M3]
}

// eight has one block for each multiprocessor, which computes one tile after another. While a bulk copy stores a tile from shared memory,
// the block already copies the operands of the next one. The sum runs along the rows of both operands: the right one is
// transposed and has N rows of K elements.
//
//gpu:kernel
//gpu:block 384
func eight(t gpu.Thread, a gpu.TensorMap[[2][1]gpu.Panel[dtype.F8E4M3]], b gpu.TensorMap[[4]gpu.Panel[dtype.F8E4M3]], c gpu.TensorMap[gpu.Panel[dtype.BF16]], s Shape) {
	stages := gpu.Shared[[ring]narrow](t)
	out := gpu.Shared[[2][4]gpu.Panel[dtype.BF16]](t)
	full, empty := gpu.Shared[[ring]gpu.Barrier](t), gpu.Shared[[ring]gpu.Barrier](t)
	joint := gpu.Shared[[2]gpu.Barrier](t)
	if t.ThreadX() == 0 {
		for i := range full {
			full[i].Init(t, 1)
			empty[i].Init(t, 2)
		}
		joint[0].Init(t, 4)
		joint[1].Init(t, 4)
	}
	t.Sync()
	tiles, steps := (s.M+127)/128*((s.N+255)/256), (s.K+127)/128
	n := uint(0) // stages so far
	if t.WarpGroup() == 0 {
		t.GiveRegisters(40)
		if t.ThreadX() == 0 {
			for i := t.BlockX(); i < tiles; i += t.GridDimX() {
				row0, col0 := tileOf(i, s)
				for k := range steps {
					stage := n % ring
					empty[stage].Wait(t, int(n/ring+1))
					full[stage].Expect(t, 6*gpu.PanelBytes)
					a.Fetch(t, &stages[stage].left, gpu.Corner{X: k * 128, Y: row0}, &full[stage])
					b.Fetch(t, &stages[stage].right, gpu.Corner{X: k * 128, Y: col0}, &full[stage])
					n++
				}
			}
		}
		return
	}
	t.TakeRegisters(232)
	half := (t.WarpGroup() - 1) & 1
	meetings := 0
	for i := t.BlockX(); i < tiles; i += t.GridDimX() {
		row0, col0 := tileOf(i, s)
		var acc [128]float32
		for k := 0; ; {
			stage := n % ring
			full[stage].Wait(t, int(n/ring))
			t.FenceProducts()
			for step := range 4 {
				gpu.MultiplyAsync(t, &acc, gpu.AlongRows(stages[stage].left[half][:], step), gpu.AlongRows(stages[stage].right[:], step))
			}
			t.CommitProducts()
			gpu.AwaitProducts(t, &acc, 1)
			if k > 0 && t.ThreadX()%128 == 0 {
				empty[(n-1)%ring].Arrive(t)
			}
			n++
			if k++; k >= steps {
				break
			}
		}
		gpu.AwaitProducts(t, &acc, 0)
		if t.ThreadX()%128 == 0 {
			empty[(n-1)%ring].Arrive(t)
			t.WaitSources(0)
		}
		meet(t, &joint[half], meetings)
		spread(t, &out[half], &acc)
		t.FenceAsync()
		meet(t, &joint[half], meetings+1)
		meetings += 2
		if t.ThreadX()%128 == 0 {
			for j := range 4 {
				c.Store(t, gpu.Corner{X: col0 + j*64, Y: row0 + half*64}, &out[half][j])
			}
			t.CommitStores()
		}
	}
	t.WaitStores(0)
}

// meet waits for the four warps that arrive at b, each of which arrives once.
func meet(t gpu.Thread, b *gpu.Barrier, phase int) {
	t.SyncWarp()
	if t.Lane() == 0 {
		b.Arrive(t)
	}
	b.Wait(t, phase)
}

// spread stores an accumulator in panels side by side.
func spread(t gpu.Thread, to *[4]gpu.Panel[dtype.BF16], acc *[128]float32) {
	for j := range 4 {
		for q := range 4 {
			e := j*32 + q*8
			gpu.StoreMatrix4(t, gpu.EightAt(&to[j], t.Warp()%4*16+t.Lane()%16, q*16+t.Lane()/16*8), [4]gpu.Tile[dtype.BF16]{
				both(acc[e], acc[e+1]), both(acc[e+2], acc[e+3]), both(acc[e+4], acc[e+5]), both(acc[e+6], acc[e+7]),
			})
		}
	}
}

// both returns two neighboring elements as a part of a tile.
func both(low, high float32) gpu.Tile[dtype.BF16] {
	return gpu.Tile[dtype.BF16](dtype.BF16From32(low)) | gpu.Tile[dtype.BF16](dtype.BF16From32(high))<<16
}
