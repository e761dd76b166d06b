package seeded

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// copied copies a tile of 8x16 numbers to rows of out.
//
//gpu:kernel
//gpu:block 32
func copied(t gpu.Thread, x gpu.TensorMap[[8][16]float32], out []float32) {
	tile, full := gpu.Shared[[8][16]float32](t), gpu.Shared[gpu.Barrier](t)
	if t.ThreadX() == 0 {
		full.Init(t, 1)
	}
	t.Sync()
	if t.ThreadX() == 0 {
		full.Expect(t, 8*16*4)
		x.Fetch(t, tile, gpu.Corner{}, full)
	}
	full.Wait(t, 0)
	for i := range 8 {
		out[i*32+t.ThreadX()] = tile[i][t.ThreadX()%16]
	}
}

// copiedUnawaited is copied without the wait.
//
//gpu:kernel
//gpu:block 32
func copiedUnawaited(t gpu.Thread, x gpu.TensorMap[[8][16]float32], out []float32) {
	tile, full := gpu.Shared[[8][16]float32](t), gpu.Shared[gpu.Barrier](t)
	if t.ThreadX() == 0 {
		full.Init(t, 1)
	}
	t.Sync()
	if t.ThreadX() == 0 {
		full.Expect(t, 8*16*4)
		x.Fetch(t, tile, gpu.Corner{}, full)
	}
	t.Sync()
	for i := range 8 {
		out[i*32+t.ThreadX()] = tile[i][t.ThreadX()%16] // want "memory was never written"
	}
}

// copiedShort is copied with too few bytes announced: the phase never ends.
//
//gpu:kernel
//gpu:block 32
func copiedShort(t gpu.Thread, x gpu.TensorMap[[8][16]float32], out []float32) {
	tile, full := gpu.Shared[[8][16]float32](t), gpu.Shared[gpu.Barrier](t)
	if t.ThreadX() == 0 {
		full.Init(t, 1)
	}
	t.Sync()
	if t.ThreadX() == 0 {
		full.Expect(t, 8*16*2)
		x.Fetch(t, tile, gpu.Corner{}, full)
	}
	full.Wait(t, 0) // want "deadlock"
	out[t.ThreadX()] = tile[0][t.ThreadX()%16]
}

// filled stores a tile of ones.
//
//gpu:kernel
//gpu:block 32
func filled(t gpu.Thread, out gpu.TensorMap[[8][16]float32]) {
	tile := gpu.Shared[[8][16]float32](t)
	for i := t.ThreadX(); i < 128; i += 32 {
		tile[i/16][i%16] = 1
	}
	t.FenceAsync()
	t.Sync()
	if t.ThreadX() == 0 {
		out.Store(t, gpu.Corner{}, tile)
		t.CommitStores()
		t.WaitStores(0)
	}
}

// filledUnfenced is filled without the fence.
//
//gpu:kernel
//gpu:block 32
func filledUnfenced(t gpu.Thread, out gpu.TensorMap[[8][16]float32]) {
	tile := gpu.Shared[[8][16]float32](t)
	for i := t.ThreadX(); i < 128; i += 32 {
		tile[i/16][i%16] = 1
	}
	t.Sync()
	if t.ThreadX() == 0 {
		out.Store(t, gpu.Corner{}, tile) // want "no fence.proxy.async: byte {} of shared memory, which thread"
		t.CommitStores()
		t.WaitStores(0)
	}
}

// squared stores a part of the square of a panel of ones that the threads write.
//
//gpu:kernel
//gpu:block 128
func squared(t gpu.Thread, out []float32) {
	p := gpu.Shared[[1]gpu.Panel[dtype.F16]](t)
	for i := t.ThreadX(); i < 64*64; i += 128 {
		*p[0].At(i/64, i%64) = 0x3c00
	}
	t.FenceAsync()
	t.Sync()
	var acc [4]float32
	t.FenceProducts()
	for step := range 4 {
		gpu.MultiplyAsync(t, &acc, gpu.AlongRows(p[:], step), gpu.AlongRows(p[:], step))
	}
	t.CommitProducts()
	gpu.AwaitProducts(t, &acc, 0)
	out[t.ThreadX()] = acc[0]
}

// squaredHasty is squared where a thread changes the panel before the products are done.
//
//gpu:kernel
//gpu:block 128
func squaredHasty(t gpu.Thread, out []float32) {
	p := gpu.Shared[[1]gpu.Panel[dtype.F16]](t)
	for i := t.ThreadX(); i < 64*64; i += 128 {
		*p[0].At(i/64, i%64) = 0x3c00
	}
	t.FenceAsync()
	t.Sync()
	var acc [4]float32
	t.FenceProducts()
	gpu.MultiplyAsync(t, &acc, gpu.AlongRows(p[:], 0), gpu.AlongRows(p[:], 0)) // want "no fence.proxy.async"
	t.CommitProducts()
	t.Sync()
	*p[0].At(t.ThreadX()%64, 0) = 0
	gpu.AwaitProducts(t, &acc, 0)
	out[t.ThreadX()] = acc[0]
}

// squaredUnready is squared without the fence before the products.
//
//gpu:kernel
//gpu:block 128
func squaredUnready(t gpu.Thread, out []float32) {
	p := gpu.Shared[[1]gpu.Panel[dtype.F16]](t)
	for i := t.ThreadX(); i < 64*64; i += 128 {
		*p[0].At(i/64, i%64) = 0x3c00
	}
	t.FenceAsync()
	t.Sync()
	var acc [4]float32
	gpu.MultiplyAsync(t, &acc, gpu.AlongRows(p[:], 0), gpu.AlongRows(p[:], 0)) // want "no wgmma.fence"
	t.CommitProducts()
	gpu.AwaitProducts(t, &acc, 0)
	out[t.ThreadX()] = acc[0]
}
