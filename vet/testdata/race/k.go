package race

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
//gpu:block 64
func reverse(t gpu.Thread, x []float32) {
	s := gpu.Shared[[64]float32](t)
	s[t.ThreadX()] = x[t.GlobalX()]
	x[t.GlobalX()] = s[63-t.ThreadX()] // want `this reads shared memory that other threads write, with no barrier in between \(the write: k.go:9\)`
}

//gpu:kernel
//gpu:block 256
func sum(t gpu.Thread, x, sums []float32) {
	s := gpu.Shared[[256]float32](t)
	me := t.ThreadX()
	s[me] = x[t.GlobalX()]
	t.Sync()
	for half := 128; half > 0; half /= 2 {
		if me < half {
			s[me] += s[me+half] // want `this reads shared memory`
		}
	}
	if me == 0 {
		sums[t.BlockX()] = s[0]
	}
}

//gpu:kernel
//gpu:block 8,8
func tiles(t gpu.Thread, a, c []float32, n int) {
	s := gpu.Shared[[8][8]float32](t)
	x, y := t.ThreadX(), t.ThreadY()
	var sum float32
	for k := 0; k < n; k += 8 {
		s[y][x] = a[t.GlobalY()*n+k+x] // want `this overwrites shared memory that other threads read, with no barrier in between \(the read: k.go:40\)`
		t.Sync()
		for i := range 8 {
			sum += s[y][i]
		}
	}
	c[t.GlobalY()*n+t.GlobalX()] = sum
}

//gpu:kernel
//gpu:block 128
func told(t gpu.Thread, x []float32) {
	total := gpu.Shared[float32](t)
	if t.ThreadX() == 0 {
		*total = x[0]
	}
	x[t.GlobalX()] = *total // want `this reads shared memory`
}

//gpu:kernel
//gpu:block 32
func neighbors(t gpu.Thread, x []float32) {
	s := gpu.Shared[[32]float32](t)
	s[t.Lane()] = x[t.Lane()]
	x[t.Lane()] = s[t.Lane()^1] // want `this reads shared memory`
}

// The barriers are present.
//
//gpu:kernel
//gpu:block 256
func right(t gpu.Thread, x, sums []float32) {
	s := gpu.Shared[[256]float32](t)
	me := t.ThreadX()
	s[me] = x[t.GlobalX()]
	s[me] = 2 * s[me] // one's own
	t.Sync()
	for half := 128; half > 0; half /= 2 {
		if me < half {
			s[me] += s[me+half]
		}
		t.Sync()
	}
	if me == 0 {
		sums[t.BlockX()] = s[0]
	}
}

// One buffer is written while the other is read.
//
//gpu:kernel
//gpu:block 64
func turns(t gpu.Thread, x []float32, n int) {
	s := gpu.Shared[[2][64]float32](t)
	me := t.ThreadX()
	s[0][me] = x[me]
	for i := range n {
		t.Sync()
		s[(i+1)%2][me] = s[i%2][63-me] + 1
	}
	if me < 32 {
		gpu.AtomicAdd(&x[0], s[n%2][me])
	}
}

// Each half of the threads uses its own elements.
//
//gpu:kernel
//gpu:block 64
func parts(t gpu.Thread, x []float32) {
	s := gpu.Shared[[64]float32](t)
	me := t.ThreadX()
	if me < 32 {
		s[me] = 1
	} else {
		s[me] = 2
	}
	if me == 5 {
		x[0] = s[5]
	}
	if me < 32 {
		x[me] = s[me]
		t.SyncWarp()
		x[me] += s[31-me]
	}
}

func add(i int) int   { return i + (i ^ 1) + i*i }
func add4(i int) int  { return add(add(add(add(i)))) }
func add16(i int) int { return add4(add4(add4(add4(i)))) }

// doubled has indices that are computed in each iteration from values that are used twice.
//
//gpu:kernel
//gpu:block 64
func doubled(t gpu.Thread, x []float32, n int) {
	s := gpu.Shared[[64]float32](t)
	for i := range n {
		s[t.ThreadX()+add16(add16(i))] = x[t.GlobalX()]
		x[t.GlobalX()] = s[t.ThreadX()+add16(add16(i))]
	}
}
