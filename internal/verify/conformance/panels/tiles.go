package panels

import (
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// chained stores the product of a, 64x64, and b, 64x64, rounded to bfloat16, times c, 64x128. All are
// stored row by row. The first product stays in registers.
//
//gpu:kernel
//gpu:block 128
func chained(t gpu.Thread, a, b, c gpu.TensorMap[gpu.Panel[dtype.BF16]], out []float32) {
	left, right := gpu.Shared[[1]gpu.Panel[dtype.BF16]](t), gpu.Shared[[1]gpu.Panel[dtype.BF16]](t)
	last := gpu.Shared[[2]gpu.Panel[dtype.BF16]](t)
	full := gpu.Shared[gpu.Barrier](t)
	begin(t, full)
	if t.ThreadX() == 0 {
		full.Expect(t, 4*gpu.PanelBytes)
		a.Fetch(t, &left[0], gpu.Corner{}, full)
		b.Fetch(t, &right[0], gpu.Corner{}, full)
		c.Fetch(t, &last[0], gpu.Corner{}, full)
		c.Fetch(t, &last[1], gpu.Corner{X: 64}, full)
	}
	full.Wait(t, 0)
	var first [32]float32
	for i := range first {
		first[i] = float32(t.Lane()) // which ProductAsync must replace
	}
	t.FenceProducts()
	gpu.ProductAsync(t, &first, gpu.AlongRows(left[:], 0), gpu.DownColumns(right[:], 0))
	for step := 1; step < 4; step++ {
		gpu.MultiplyAsync(t, &first, gpu.AlongRows(left[:], step), gpu.DownColumns(right[:], step))
	}
	t.CommitProducts()
	gpu.AwaitProducts(t, &first, 0)
	var tiles [4][4]gpu.Tile[dtype.BF16]
	for i := range 16 {
		tiles[i/4][i%4] = gpu.Tile[dtype.BF16](dtype.BF16From32(first[2*i])) | gpu.Tile[dtype.BF16](dtype.BF16From32(first[2*i+1]))<<16
	}
	var acc [64]float32
	t.FenceProducts()
	for step := range 4 {
		gpu.MultiplyTilesAsync(t, &acc, tiles[step], gpu.DownColumns(last[:], step))
	}
	t.CommitProducts()
	gpu.AwaitProducts(t, &acc, 0)
	row, col := place(t)
	for e := range 64 {
		out[(row+e/2%2*8)*128+e/4*8+col+e%2] = acc[e]
	}
}

func productOfAccumulator(r *check.Run) {
	// The sums of the first product are integers, which no order of additions changes.
	a, b, c := integers(64, 64), integers(64, 64), matrix(64, 128, dtype.BF16From32)
	out := check.Make[float32](r, 64*128)
	r.Launch(Chained(r.Stream, one, a.rows(r), b.rows(r), c.rows(r), out))
	first := numbers[dtype.BF16]{64, 64, nil}
	for _, sum := range a.times(b).sums {
		first.elements = append(first.elements, dtype.BF16From32(float32(sum)))
	}
	first.times(c).compare(r, out)
}

// spare stores the product of a and b, both 64x64. The panels are in dynamic shared memory, where the sums take their place.
//
//gpu:kernel
func spare(t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[dtype.BF16]], out []float32) {
	full := gpu.Shared[gpu.Barrier](t)
	panels, sums := (*[2]gpu.Panel[dtype.BF16])(gpu.DynamicShared[gpu.Panel[dtype.BF16]](t)), gpu.DynamicShared[float32](t)
	begin(t, full)
	if t.ThreadX() == 0 {
		full.Expect(t, 2*gpu.PanelBytes)
		a.Fetch(t, &panels[0], gpu.Corner{}, full)
		b.Fetch(t, &panels[1], gpu.Corner{}, full)
	}
	full.Wait(t, 0)
	var acc [32]float32
	t.FenceProducts()
	for step := range 4 {
		gpu.MultiplyAsync(t, &acc, gpu.AlongRows(panels[:1], step), gpu.DownColumns(panels[1:], step))
	}
	t.CommitProducts()
	gpu.AwaitProducts(t, &acc, 0)
	t.Sync()
	row, col := place(t)
	for e := range 32 {
		sums[(row+e/2%2*8)*64+e/4*8+col+e%2] = acc[e]
	}
	t.Sync()
	for i := t.ThreadX(); i < len(out); i += 128 {
		out[i] = sums[i]
	}
}

// integers returns a matrix of integers from -4 to 4.
func integers(height, width int) numbers[dtype.BF16] {
	random := rand.New(rand.NewPCG(uint64(height), uint64(width)))
	return matrix(height, width, func(float32) dtype.BF16 { return dtype.BF16From32(float32(random.IntN(9) - 4)) })
}

// tiled stores the product of a, 64 rows of n*16 numbers, and b, 64x64 numbers stored column by column, of which
// each 16 columns of a use the same 16 rows in turn. The tiles of an iteration are loaded while
// the previous product is running.
//
//gpu:kernel
//gpu:block 128
func tiled(t gpu.Thread, n int, a []dtype.F16, b gpu.TensorMap[gpu.Panel[dtype.F16]], out []float32) {
	right := gpu.Shared[[1]gpu.Panel[dtype.F16]](t)
	full := gpu.Shared[gpu.Barrier](t)
	begin(t, full)
	if t.ThreadX() == 0 {
		full.Expect(t, gpu.PanelBytes)
		b.Fetch(t, &right[0], gpu.Corner{}, full)
	}
	full.Wait(t, 0)
	row, col := place(t)
	next := fourTiles(a, row*n*16+col, n*16)
	var acc [32]float32
	for i := range n {
		tiles := next
		t.FenceProducts()
		gpu.MultiplyTilesAsync(t, &acc, tiles, gpu.AlongRows(right[:], i%4))
		t.CommitProducts()
		if i+1 < n {
			next = fourTiles(a, row*n*16+col+(i+1)*16, n*16)
		}
		gpu.AwaitProducts(t, &acc, 0)
	}
	for e := range 32 {
		out[(row+e/2%2*8)*64+e/4*8+col+e%2] = acc[e]
	}
}

// fourTiles loads the thread's part of 16x16 numbers; its first one is at the given place, and the next row is width further.
func fourTiles(a []dtype.F16, at, width int) (tiles [4]gpu.Tile[dtype.F16]) {
	for i := range tiles {
		from := at + i%2*8*width + i/2*8
		tiles[i] = gpu.Tile[dtype.F16](a[from]) | gpu.Tile[dtype.F16](a[from+1])<<16
	}
	return tiles
}

func productOfTiles(r *check.Run, n int) {
	a, b := matrix(64, n*16, dtype.F16From32), matrix(64, 64, dtype.F16From32)
	out := check.Make[float32](r, 64*64)
	r.Launch(Tiled(r.Stream, one, n, check.Upload(r, a.elements...), b.columns(r), out))
	repeated := numbers[dtype.F16]{n * 16, 64, nil}
	for i := range n * 16 {
		repeated.elements = append(repeated.elements, b.elements[i%64*64:][:64]...)
	}
	a.times(repeated).compare(r, out)
}
