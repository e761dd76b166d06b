package public

import (
	"math/rand/v2"
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// waveletTile is the side of the part of an image that a block transforms, and waveletSide that of the part that
// it reads: with two more pixels before and one after.
const (
	waveletTile = 32
	waveletSide = waveletTile + 3
)

// mirrored returns the index that i has in a row of n pixels that is continued by reflection.
func mirrored(i, n int) int {
	if i < 0 {
		return -i
	}
	if i >= n {
		return 2*n - 2 - i
	}
	return i
}

// dwt2d transforms an n x n image by one level of the reversible 5/3 wavelets (Le Gall and Tabatabai 1988), by
// lifting (Sweldens 1996), and stores the four bands as the quadrants of the result. It is the forward transform of
// Rodinia's dwt2d: a block of 32 x 8 threads holds a part of the image with its border in shared memory, where it
// transforms rows and then columns. n is a multiple of 32.
//
//gpu:kernel
//gpu:block 32,8
func dwt2d(t gpu.Thread, image, bands []int32, n int) {
	tile := gpu.Shared[[waveletSide][waveletSide]int32](t)
	x0, y0 := t.BlockX()*waveletTile-2, t.BlockY()*waveletTile-2
	tx, ty := t.ThreadX(), t.ThreadY()
	for y := ty; y < waveletSide; y += 8 {
		for x := tx; x < waveletSide; x += 32 {
			tile[y][x] = image[mirrored(y0+y, n)*n+mirrored(x0+x, n)]
		}
	}
	t.Sync()
	for y := ty; y < waveletSide; y += 8 {
		for x := 2*tx + 1; x < waveletSide-1; x += 64 {
			tile[y][x] -= (tile[y][x-1] + tile[y][x+1]) >> 1
		}
	}
	t.Sync()
	for y := ty; y < waveletSide; y += 8 {
		for x := 2*tx + 2; x < waveletSide-1; x += 64 {
			tile[y][x] += (tile[y][x-1] + tile[y][x+1] + 2) >> 2
		}
	}
	t.Sync()
	for y := 2*ty + 1; y < waveletSide-1; y += 16 {
		for x := tx; x < waveletSide; x += 32 {
			tile[y][x] -= (tile[y-1][x] + tile[y+1][x]) >> 1
		}
	}
	t.Sync()
	for y := 2*ty + 2; y < waveletSide-1; y += 16 {
		for x := tx; x < waveletSide; x += 32 {
			tile[y][x] += (tile[y-1][x] + tile[y+1][x] + 2) >> 2
		}
	}
	t.Sync()
	for y := ty; y < waveletTile; y += 8 {
		toX, toY := (x0+2+tx)/2, (y0+2+y)/2
		if tx%2 == 1 {
			toX += n / 2
		}
		if y%2 == 1 {
			toY += n / 2
		}
		bands[toY*n+toX] = tile[y+2][tx+2]
	}
}

// newDWT2D prepares an n x n image.
func newDWT2D(b *harness.Bench, n int) harness.Work {
	image := harness.Input(b, harness.Random(b, n*n, func(r *rand.Rand, _ int) int32 { return r.Int32N(256) - 128 }))
	bands := harness.Result(b, n*n, int32(1<<20))
	g := device.Grid{Blocks: device.Dim{X: n / waveletTile, Y: n / waveletTile}, Block: device.Dim{X: 32, Y: 8}}
	want := sync.OnceValue(func() []int32 { return wavelets(image.Host, n) })
	return harness.Work{
		Ours:  []harness.Launch{harness.Of("dwt2d", Dwt2d, g, image, bands, harness.ByValue(n))},
		Check: func() error { return harness.Exactly(bands.Host, func(i int) int32 { return want()[i] }) },
	}
}

// wavelets returns the bands of an n x n image: it transforms all rows, then all columns.
func wavelets(image []int32, n int) []int32 {
	x, y := make([]int32, n*n), make([]int32, n*n)
	for row := range n {
		lift(func(i int) int32 { return image[row*n+i] }, func(i int, v int32) { x[row*n+i] = v }, n)
	}
	for col := range n {
		lift(func(i int) int32 { return x[i*n+col] }, func(i int, v int32) { y[i*n+col] = v }, n)
	}
	return y
}

// lift transforms n numbers: the first half of the result is the averages, the second the differences.
func lift(get func(i int) int32, set func(i int, v int32), n int) {
	difference := func(i int) int32 { return get(i) - (get(i-1)+get(mirrored(i+1, n)))>>1 }
	for i := 0; i < n; i += 2 {
		set(i/2, get(i)+(difference(mirrored(i-1, n))+difference(i+1)+2)>>2)
		set(n/2+i/2, difference(i+1))
	}
}
