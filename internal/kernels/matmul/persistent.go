package matmul

import "github.com/gopherwarp/gopherwarp/gpu"

// ring is the number of stages of persistent: the rest of shared memory holds the result.
const ring = 3

// persistent is specialised with one block for each multiprocessor, which computes one tile after another, of a
// batch of products. While a bulk copy stores a tile from shared memory, the block already copies the operands of
// the next one. It adds bias to each row, unless bias is empty, and applies E to the sums.
//
//gpu:kernel
//gpu:block 384
func persistent[T gpu.Half, F format[T], E activation](t gpu.Thread, a, b, c gpu.TensorMap[gpu.Panel[T]], bias []float32, s Shape, batch int) {
	stages := gpu.Shared[[ring]oblong[T]](t)
	out := gpu.Shared[[2][4]gpu.Panel[T]](t)
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
	tiles, steps := (s.M+127)/128*((s.N+255)/256), (s.K+63)/64 // tiles of one product
	n := uint(0)                                               // stages so far
	if t.WarpGroup() == 0 {
		t.GiveRegisters(40)
		if t.ThreadX() == 0 {
			for i := t.BlockX(); i < tiles*batch; i += t.GridDimX() {
				row0, col0 := tileOf(i%tiles, s)
				for k := range steps {
					stage := n % ring
					empty[stage].Wait(t, int(n/ring+1))
					bringWide(t, &stages[stage], &full[stage], source[T]{a, b, row0, col0, k * 64, i / tiles})
					n++
				}
			}
		}
		return
	}
	t.TakeRegisters(232)
	half := (t.WarpGroup() - 1) & 1
	meetings := 0
	for i := t.BlockX(); i < tiles*batch; i += t.GridDimX() {
		row0, col0 := tileOf(i%tiles, s)
		var acc [128]float32
		for k := 0; ; {
			stage := n % ring
			full[stage].Wait(t, int(n/ring))
			t.FenceProducts()
			for step := range 4 {
				gpu.MultiplyAsync(t, &acc, gpu.AlongRows(stages[stage].left[half][:], step), gpu.DownColumns(stages[stage].right[:], step))
			}
			t.CommitProducts()
			gpu.AwaitProducts(t, &acc, 1)
			if k > 0 && t.ThreadX()%128 == 0 {
				empty[(n-1)%ring].Arrive(t)
			}
			n++
			if k++; k >= steps { // at least one iteration, so that ptxas sees that all products belong to this tile
				break
			}
		}
		gpu.AwaitProducts(t, &acc, 0)
		if t.ThreadX()%128 == 0 {
			empty[(n-1)%ring].Arrive(t)
			t.WaitSources(0)
		}
		meet(t, &joint[half], meetings)
		finish[E](t, &acc, bias, col0)
		spread[T, F](t, &out[half], &acc)
		t.FenceAsync()
		meet(t, &joint[half], meetings+1)
		meetings += 2
		if t.ThreadX()%128 == 0 {
			for j := range 4 {
				c.Store(t, gpu.Corner{X: col0 + j*64, Y: row0 + half*64, Z: i / tiles}, &out[half][j])
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

// finish adds the bias to an accumulator whose first column is col0, and applies E.
func finish[E activation](t gpu.Thread, acc *[128]float32, bias []float32, col0 int) {
	if len(bias) > 0 {
		for j := range 32 {
			for i := range 2 {
				if col := col0 + j*8 + t.Lane()%4*2 + i; col < len(bias) {
					acc[4*j+i] += bias[col]
					acc[4*j+2+i] += bias[col]
				}
			}
		}
	}
	var e E
	for i := range acc {
		acc[i] = e.of(acc[i])
	}
}

// spread stores an accumulator in panels side by side.
func spread[T gpu.Half, F format[T]](t gpu.Thread, to *[4]gpu.Panel[T], acc *[128]float32) {
	for j := range 4 {
		for q := range 4 {
			e := j*32 + q*8
			gpu.StoreMatrix4(t, gpu.EightAt(&to[j], t.Warp()%4*16+t.Lane()%16, q*16+t.Lane()/16*8), [4]gpu.Tile[T]{
				both[T, F](acc[e], acc[e+1]), both[T, F](acc[e+2], acc[e+3]), both[T, F](acc[e+4], acc[e+5]), both[T, F](acc[e+6], acc[e+7]),
			})
		}
	}
}

// both returns two neighboring elements as a part of a tile.
func both[T gpu.Half, F format[T]](low, high float32) gpu.Tile[T] {
	var f F
	return gpu.Tile[T](f.round(low)) | gpu.Tile[T](f.round(high))<<16
}
