package seeded

import "github.com/gopherwarp/gopherwarp/gpu"

const width = 64

// sum stores the sum of each block's elements of x.
//
//gpu:kernel
//gpu:block 64
func sum(t gpu.Thread, x, sums []float32) {
	s := gpu.Shared[[width]float32](t)
	me := t.ThreadX()
	s[me] = x[t.GlobalX()]
	t.Sync()
	for half := width / 2; half > 0; half /= 2 {
		if me < half {
			s[me] += s[me+half]
		}
		t.Sync()
	}
	if me == 0 {
		sums[t.BlockX()] = s[0]
	}
}

// sumUnsynced is sum without the barrier in the loop.
//
//gpu:kernel
//gpu:block 64
func sumUnsynced(t gpu.Thread, x, sums []float32) {
	s := gpu.Shared[[width]float32](t)
	me := t.ThreadX()
	s[me] = x[t.GlobalX()]
	t.Sync()
	for half := width / 2; half > 0; half /= 2 {
		if me < half {
			s[me] += s[me+half] // want "data race: write at {} .* a barrier in between, read at {} "
		}
	}
	if me == 0 {
		sums[t.BlockX()] = s[0]
	}
}

const tile = 8

// multiply stores the product of two n by n matrices, n being a multiple of 8.
//
//gpu:kernel
//gpu:block 8,8
func multiply(t gpu.Thread, a, b, c []float32, n int) {
	as := gpu.Shared[[tile][tile]float32](t)
	bs := gpu.Shared[[tile][tile]float32](t)
	x, y := t.ThreadX(), t.ThreadY()
	row, column := t.GlobalY(), t.GlobalX()
	var sum float32
	for k := 0; k < n; k += tile {
		as[y][x] = a[row*n+k+x]
		bs[y][x] = b[(k+y)*n+column]
		t.Sync()
		for i := range tile {
			sum += as[y][i] * bs[i][x]
		}
		t.Sync()
	}
	c[row*n+column] = sum
}

// multiplyUnsynced is multiply without the barrier at the loop's end.
//
//gpu:kernel
//gpu:block 8,8
func multiplyUnsynced(t gpu.Thread, a, b, c []float32, n int) {
	as := gpu.Shared[[tile][tile]float32](t)
	bs := gpu.Shared[[tile][tile]float32](t)
	x, y := t.ThreadX(), t.ThreadY()
	row, column := t.GlobalY(), t.GlobalX()
	var sum float32
	for k := 0; k < n; k += tile {
		as[y][x] = a[row*n+k+x]      // want "data race: read at {product} .* write at {} "
		bs[y][x] = b[(k+y)*n+column] // want "data race: read at {product} .* write at {} "
		t.Sync()
		for i := range tile {
			sum += as[y][i] * bs[i][x] // here: product
		}
	}
	c[row*n+column] = sum
}

// halves waits in both branches together.
//
//gpu:kernel
//gpu:block 64
func halves(t gpu.Thread, x []float32) {
	s := gpu.Shared[[width]float32](t)
	me := t.ThreadX()
	s[me] = x[me]
	t.Sync()
	if me < 16 {
		x[me] = s[me+16]
	}
}

// halvesDivergent has a barrier that only some threads of a warp reach.
//
//gpu:kernel
//gpu:block 64
func halvesDivergent(t gpu.Thread, x []float32) {
	s := gpu.Shared[[width]float32](t)
	me := t.ThreadX()
	s[me] = x[me]
	if me < 16 {
		t.Sync() // want "divergent barrier"
		x[me] = s[me+16]
	} else {
		t.Sync()
		x[me] = 0
	}
}

// neighbours stores in each element of a warp its neighbour's.
//
//gpu:kernel
//gpu:block 32
func neighbours(t gpu.Thread, x []float32) {
	s := gpu.Shared[[32]float32](t)
	s[t.Lane()] = x[t.Lane()]
	t.SyncWarp()
	x[t.Lane()] = s[t.Lane()^1]
}

// neighboursUnsynced is neighbours for those who hold a warp to go in step.
//
//gpu:kernel
//gpu:block 32
func neighboursUnsynced(t gpu.Thread, x []float32) {
	s := gpu.Shared[[32]float32](t)
	s[t.Lane()] = x[t.Lane()]   // here: kept
	x[t.Lane()] = s[t.Lane()^1] // want "data race: write at {kept} .* read at {} "
}

// leaders stores in each element the sum of two numbers of the block's first thread.
//
//gpu:kernel
//gpu:block 64
func leaders(t gpu.Thread, x []float32) {
	leader := func(v float32) float32 {
		s := gpu.Shared[float32](t)
		if t.ThreadX() == 0 {
			*s = v
		}
		t.Sync()
		return *s
	}
	me := t.ThreadX()
	first := leader(x[me])
	t.Sync()
	x[me] = first + leader(2*x[me])
}

// leadersUnsynced is leaders without the barrier between two calls that use the same shared variable.
//
//gpu:kernel
//gpu:block 64
func leadersUnsynced(t gpu.Thread, x []float32) {
	leader := func(v float32) float32 {
		s := gpu.Shared[float32](t)
		if t.ThreadX() == 0 {
			*s = v // want "data race: read at {led} .* write at {} "
		}
		t.Sync()
		return *s // here: led
	}
	me := t.ThreadX()
	first := leader(x[me])
	x[me] = first + leader(2*x[me])
}
