package panels

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// begin readies a barrier for one arrival in each phase.
func begin(t gpu.Thread, b *gpu.Barrier) {
	if t.ThreadX() == 0 {
		b.Init(t, 1)
	}
	t.Sync()
}

// place returns the row and the column of the first of a thread's elements in an accumulator.
func place(t gpu.Thread) (row, col int) {
	return t.ThreadX()/32*16 + t.Lane()/4, t.Lane() % 4 * 2
}

// productBF16 stores the product of a, of 64x64, and b, of 64x64, row by row both.
//
//gpu:kernel
//gpu:block 128
func productBF16(t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[dtype.BF16]], c []float32) {
	left, right := gpu.Shared[[1]gpu.Panel[dtype.BF16]](t), gpu.Shared[[1]gpu.Panel[dtype.BF16]](t)
	full := gpu.Shared[gpu.Barrier](t)
	begin(t, full)
	if t.ThreadX() == 0 {
		full.Expect(t, 2*gpu.PanelBytes)
		a.Fetch(t, &left[0], gpu.Corner{}, full)
		b.Fetch(t, &right[0], gpu.Corner{}, full)
	}
	full.Wait(t, 0)
	var acc [32]float32
	t.FenceProducts()
	for step := range 4 {
		gpu.MultiplyAsync(t, &acc, gpu.AlongRows(left[:], step), gpu.DownColumns(right[:], step))
	}
	t.CommitProducts()
	gpu.AwaitProducts(t, &acc, 0)
	row, col := place(t)
	for e := range 32 {
		c[(row+e/2%2*8)*64+e/4*8+col+e%2] = acc[e]
	}
}

// productF16 stores the product of a, of 64x64 numbers column by column, and b, of 64x256, row by row.
//
//gpu:kernel
//gpu:block 128
func productF16(t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[dtype.F16]], c []float32) {
	left, right := gpu.Shared[[1]gpu.Panel[dtype.F16]](t), gpu.Shared[[4]gpu.Panel[dtype.F16]](t)
	full := gpu.Shared[gpu.Barrier](t)
	begin(t, full)
	if t.ThreadX() == 0 {
		full.Expect(t, 5*gpu.PanelBytes)
		a.Fetch(t, &left[0], gpu.Corner{}, full)
		for i := range right {
			b.Fetch(t, &right[i], gpu.Corner{X: i * 64}, full)
		}
	}
	full.Wait(t, 0)
	var acc [128]float32
	t.FenceProducts()
	for step := range 4 {
		gpu.MultiplyAsync(t, &acc, gpu.DownColumns(left[:], step), gpu.DownColumns(right[:], step))
	}
	t.CommitProducts()
	gpu.AwaitProducts(t, &acc, 0)
	row, col := place(t)
	for e := range 128 {
		c[(row+e/2%2*8)*256+e/4*8+col+e%2] = acc[e]
	}
}

// productTF32 stores the product of a, of 64x32 numbers, row by row, and b, of 32x128, column by column.
//
//gpu:kernel
//gpu:block 128
func productTF32(t gpu.Thread, a gpu.TensorMap[gpu.Panel[float32]], b gpu.TensorMap[[2]gpu.Panel[float32]], c []float32) {
	left, right := gpu.Shared[[1]gpu.Panel[float32]](t), gpu.Shared[[2]gpu.Panel[float32]](t)
	full := gpu.Shared[gpu.Barrier](t)
	begin(t, full)
	if t.ThreadX() == 0 {
		full.Expect(t, 3*gpu.PanelBytes)
		a.Fetch(t, &left[0], gpu.Corner{}, full)
		b.Fetch(t, right, gpu.Corner{}, full)
	}
	full.Wait(t, 0)
	var acc [64]float32
	t.FenceProducts()
	for step := range 4 {
		gpu.MultiplyAsync(t, &acc, gpu.AlongRows(left[:], step), gpu.AlongRows(right[:], step))
	}
	t.CommitProducts()
	gpu.AwaitProducts(t, &acc, 0)
	row, col := place(t)
	for e := range 64 {
		c[(row+e/2%2*8)*128+e/4*8+col+e%2] = acc[e]
	}
}

// productF8 stores the product of a, of 64x128 numbers, row by row, and b, of 128x64, column by column.
//
//gpu:kernel
//gpu:block 128
func productF8(t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[dtype.F8E4M3]], c []float32) {
	left, right := gpu.Shared[[1]gpu.Panel[dtype.F8E4M3]](t), gpu.Shared[[1]gpu.Panel[dtype.F8E4M3]](t)
	full := gpu.Shared[gpu.Barrier](t)
	begin(t, full)
	if t.ThreadX() == 0 {
		full.Expect(t, 2*gpu.PanelBytes)
		a.Fetch(t, &left[0], gpu.Corner{}, full)
		b.Fetch(t, &right[0], gpu.Corner{}, full)
	}
	full.Wait(t, 0)
	var acc [32]float32
	t.FenceProducts()
	for step := range 4 {
		gpu.MultiplyAsync(t, &acc, gpu.AlongRows(left[:], step), gpu.AlongRows(right[:], step))
	}
	t.CommitProducts()
	gpu.AwaitProducts(t, &acc, 0)
	row, col := place(t)
	for e := range 32 {
		c[(row+e/2%2*8)*64+e/4*8+col+e%2] = acc[e]
	}
}

// moved copies the tile at (x, y, z) of from, turned upside down, to the nearest place in to where a tile can be stored.
//
//gpu:kernel
//gpu:block 64
func moved(t gpu.Thread, from, to gpu.TensorMap[[8][12]int32], x, y, z int) {
	in, out := gpu.Shared[[8][12]int32](t), gpu.Shared[[8][12]int32](t)
	full := gpu.Shared[gpu.Barrier](t)
	begin(t, full)
	if t.ThreadX() == 0 {
		full.Expect(t, 8*12*4)
		from.Fetch(t, in, gpu.Corner{X: x, Y: y, Z: z}, full)
	}
	full.Wait(t, 0)
	for i := t.ThreadX(); i < 96; i += 64 {
		out[7-i/12][i%12] = in[i/12][i%12]
	}
	t.FenceAsync()
	t.Sync()
	if t.ThreadX() == 0 {
		to.Store(t, gpu.Corner{X: max(x, 0) &^ 3, Y: max(y, 0), Z: z}, out)
		t.CommitStores()
		t.WaitStores(0)
	}
}

// panels stores what each thread finds in its row of a panel, and changes the panel back into memory.
//
//gpu:kernel
//gpu:block 64
func panels(t gpu.Thread, m gpu.TensorMap[gpu.Panel[dtype.BF16]], out [][64]dtype.BF16) {
	p := gpu.Shared[gpu.Panel[dtype.BF16]](t)
	full := gpu.Shared[gpu.Barrier](t)
	begin(t, full)
	for phase := range 3 {
		if t.ThreadX() == 0 {
			full.Expect(t, gpu.PanelBytes)
			m.Fetch(t, p, gpu.Corner{X: 64 * phase}, full)
		}
		full.Wait(t, phase)
		for j := range 64 {
			out[phase*64+t.ThreadX()][j] = *p.At(t.ThreadX(), j)
			*p.At(t.ThreadX(), j) += 1
		}
		t.FenceAsync()
		t.Sync()
		if t.ThreadX() == 0 {
			m.Store(t, gpu.Corner{X: 64 * phase}, p)
			t.CommitStores()
			t.WaitSources(0)
		}
		t.Sync()
	}
}

// misplaced stores a tile where a GPU cannot.
//
//gpu:kernel
//gpu:block 32
func misplaced(t gpu.Thread, to gpu.TensorMap[[8][12]int32], x, y int) {
	tile := gpu.Shared[[8][12]int32](t)
	for i := t.ThreadX(); i < 96; i += 32 {
		tile[i/12][i%12] = 1
	}
	t.FenceAsync()
	t.Sync()
	if t.ThreadX() == 0 {
		to.Store(t, gpu.Corner{X: x, Y: y}, tile)
		t.CommitStores()
		t.WaitStores(0)
	}
}

// deserted waits for threads of which one faults before it arrives.
//
//gpu:kernel
//gpu:block 64
func deserted(t gpu.Thread, x []int32) {
	all := gpu.Shared[gpu.Barrier](t)
	if t.ThreadX() == 0 {
		all.Init(t, 64)
	}
	t.Sync()
	x[t.ThreadX()] = 1
	all.Arrive(t)
	all.Wait(t, 0)
	x[t.ThreadX()] = 2
}

// desertedProducts waits for panels that a thread of another warp group faults before it brings.
//
//gpu:kernel
//gpu:block 256
func desertedProducts(t gpu.Thread, a gpu.TensorMap[gpu.Panel[dtype.BF16]], x []float32) {
	panels := gpu.Shared[[1]gpu.Panel[dtype.BF16]](t)
	full := gpu.Shared[gpu.Barrier](t)
	begin(t, full)
	if t.WarpGroup() == 0 {
		if t.ThreadX() == 0 {
			x[len(x)] = 1
			full.Expect(t, gpu.PanelBytes)
			a.Fetch(t, &panels[0], gpu.Corner{}, full)
		}
		return
	}
	full.Wait(t, 0)
	var acc [4]float32
	t.FenceProducts()
	gpu.MultiplyAsync(t, &acc, gpu.AlongRows(panels[:], 0), gpu.AlongRows(panels[:], 0))
	t.CommitProducts()
	gpu.AwaitProducts(t, &acc, 0)
	x[t.ThreadX()%128] = acc[0]
}
