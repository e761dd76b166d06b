package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// job is the size of a product on Hopper's tensor cores. Columns is the number of columns of a tile, and Second is the number of columns
// from its first to its 128th one: both are different if a tile has columns of two halves of B.
type job struct {
	M, N, K         int32
	Columns, Second int32
	Bias, Residual  int32 // 1 if there is one, otherwise 0
	Activation      Activation
	Weights         bool
}

// panels returns the number of panels of a tile's results in a row.
func (j job) panels() int { return int(j.Columns / 64) }

// tiles returns the number of tiles.
func (j job) tiles() int32 { return (j.M + tileRows - 1) / tileRows * j.across() }

// across returns the number of tiles side by side.
func (j job) across() int32 { return (j.N + j.Columns - 1) / j.Columns }

// steps returns the number of steps of a tile.
func (j job) steps() int32 { return (j.K + depth - 1) / depth }

// group is the number of tiles below each other that blocks compute before they move to the next column of tiles: concurrent blocks then
// share more of their operands in the second-level cache.
const group = 16

// tile returns the position of a tile.
func (j job) tile(i int32) (row, col int) {
	rows, cols := (j.M+tileRows-1)/tileRows, j.across()
	first := i / (group * cols) * group
	height := min(group, rows-first)
	if height <= 0 {
		return int(j.M), int(j.N)
	}
	i %= group * cols
	return int((first + i%height) * tileRows), int(i / height * j.Columns)
}

// exchange is the shared memory through which results and residuals pass, by warp group.
type exchange[T gpu.Half] [2][4]gpu.Panel[T]

// resident has one block for each multiprocessor, which computes one tile after another: one warp group copies and two multiply. While a
// bulk copy stores a tile from shared memory, the block already copies the operands of the next one. C is
// E(op(A) op(B) + bias) + residual.
//
//gpu:kernel
//gpu:block 384
func resident[T gpu.Half, L layout[T], F rounding[T], E ending](t gpu.Thread, a, b, c, r gpu.TensorMap[gpu.Panel[T]], bias gpu.TensorMap[[1][128]float32], j job) {
	p := gpu.Shared[pipe[T]](t)
	out, shift := gpu.Shared[exchange[T]](t), gpu.Shared[[2]biases](t)
	joint, extras := gpu.Shared[[2]gpu.Barrier](t), gpu.Shared[[2]gpu.Barrier](t)
	if t.ThreadX() == 0 {
		p.init(t)
		for i := range 2 {
			joint[i].Init(t, 4)
			extras[i].Init(t, 1)
		}
	}
	t.Sync()
	tiles, all := j.tiles(), turn{0, j.steps(), 0}
	if t.WarpGroup() == 0 {
		t.GiveRegisters(40)
		if t.ThreadX() == 0 {
			for i := int32(t.BlockX()); i < tiles; i += int32(t.GridDimX()) {
				row, col := j.tile(i)
				all.n = produce[T, L](t, p, sources[T]{a, b}, area{turn: all, row: row, col: col, second: int(j.Second)})
			}
		}
		return
	}
	t.TakeRegisters(232)
	half := (t.WarpGroup() - 1) & 1
	leads := t.ThreadX()%128 == 0
	extra, panels := &extras[half], j.panels()
	var e E
	done := 0
	for i := int32(t.BlockX()); i < tiles; i += int32(t.GridDimX()) {
		row, col := j.tile(i)
		row += half * 64
		var acc [128]float32
		all.n = consume[T, L](t, p, &acc, all)
		if leads {
			t.WaitSources(0)
			extra.Expect(t, int(int32(panels*gpu.PanelBytes)*j.Residual+1024*j.Bias))
			if j.Residual > 0 {
				for q := range panels {
					r.Fetch(t, &out[half][q], gpu.Corner{X: col + q*64, Y: row}, extra)
				}
			}
			if j.Bias > 0 {
				for i := range 2 {
					bias.Fetch(t, &shift[half][i], gpu.Corner{X: col + i*int(j.Second)}, extra)
				}
			}
		}
		extra.Wait(t, done)
		if j.Bias > 0 {
			shift[half].addTo(t, &acc)
		}
		if e.active() {
			apply(&acc, j.Activation)
		}
		if j.Residual > 0 {
			addPanels[T, F](t, &acc, &out[half], panels)
		}
		spread[T, F](t, &out[half], &acc, panels)
		t.FenceAsync()
		meet(t, &joint[half], done)
		done++
		if leads {
			for q := range panels {
				c.Store(t, gpu.Corner{X: col + q*64, Y: row}, &out[half][q])
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

// biases are the elements of the bias for the columns of a tile.
type biases [2][1][128]float32

// addTo adds the biases to an accumulator.
func (b *biases) addTo(t gpu.Thread, acc *[128]float32) {
	pairs := t.Lane() % 4 * 2
	for j := range 32 {
		for i := range 2 {
			x := b[j/16][0][j%16*8+pairs+i]
			acc[4*j+i] += x
			acc[4*j+2+i] += x
		}
	}
}

// addPanels adds a residual to an accumulator, in the places where spread stores it.
func addPanels[T gpu.Half, F rounding[T]](t gpu.Thread, acc *[128]float32, from *[4]gpu.Panel[T], panels int) {
	var f F
	for p := range 4 {
		if p >= panels {
			break
		}
		for q := range 4 {
			tiles := gpu.LoadMatrix4(t, gpu.EightAt(&from[p], t.Warp()%4*16+t.Lane()%16, q*16+t.Lane()/16*8))
			for i, x := range tiles {
				acc[p*32+q*8+2*i] += f.wide(T(x))
				acc[p*32+q*8+2*i+1] += f.wide(T(x >> 16))
			}
		}
	}
}

// spread stores an accumulator in panels side by side.
func spread[T gpu.Half, F rounding[T]](t gpu.Thread, to *[4]gpu.Panel[T], acc *[128]float32, panels int) {
	for p := range 4 {
		if p >= panels {
			break
		}
		for q := range 4 {
			e := p*32 + q*8
			gpu.StoreMatrix4(t, gpu.EightAt(&to[p], t.Warp()%4*16+t.Lane()%16, q*16+t.Lane()/16*8), [4]gpu.Tile[T]{
				both[T, F](acc[e], acc[e+1]), both[T, F](acc[e+2], acc[e+3]), both[T, F](acc[e+4], acc[e+5]), both[T, F](acc[e+6], acc[e+7]),
			})
		}
	}
}

// both returns two neighbouring elements as a part of a tile.
func both[T gpu.Half, F rounding[T]](low, high float32) gpu.Tile[T] {
	var f F
	return gpu.Tile[T](f.round(low)) | gpu.Tile[T](f.round(high))<<16
}
