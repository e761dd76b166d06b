package threads

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// turned is the width and height of the tiles of turn.
const turned = 8

// turn stores the transpose of a in b, both of rows of n elements, as far as the grid goes.
//
//gpu:kernel
//gpu:block 8,4
func turn(t gpu.Thread, a, b []int32, n int) {
	part := gpu.Shared[[turned][turned + 1]int32](t)
	tx, ty := t.ThreadX(), t.ThreadY()
	x, y := t.BlockX()*turned+tx, t.BlockY()*turned+ty
	for j := 0; j < turned; j += 4 {
		if x < n && y+j < n {
			part[ty+j][tx] = a[(y+j)*n+x]
		}
	}
	t.Sync()
	x, y = t.BlockY()*turned+tx, t.BlockX()*turned+ty
	for j := 0; j < turned; j += 4 {
		if x < n && y+j < n {
			b[(y+j)*n+x] = part[tx][ty+j]
		}
	}
}

// turns has slices of just what n says, of more, and of less, whose missing elements the grid does not reach.
func turns(r *check.Run) {
	for _, c := range []struct{ n, tiles, length int }{{1, 1, 1}, {5, 1, 25}, {8, 1, 64}, {13, 2, 169}, {13, 2, 180}, {16, 1, 120}, {0, 1, 0}} {
		in := make([]int32, c.length)
		for i, v := range numbers(c.length) {
			in[i] = int32(v)
		}
		out := check.Make[int32](r, c.length)
		r.Launch(Turn(r.Stream, device.Blocks{X: c.tiles, Y: c.tiles}, check.Upload(r, in...), out, c.n))
		want, side := make([]int32, c.length), min(c.n, c.tiles*turned)
		for y := range side {
			for x := range side {
				want[y*c.n+x] = in[x*c.n+y]
			}
		}
		check.Want(r, out, want...)
	}
}

// steps is how many products outer adds up for an element.
const steps = 4

// outer adds up, for each of 32 threads, products of 4 by 8 numbers in shared memory.
//
//gpu:kernel
//gpu:block 32
func outer(t gpu.Thread, x, out []float32) {
	left, right := gpu.Shared[[steps][8][4]float32](t), gpu.Shared[[steps][8][4]float32](t)
	me := t.ThreadX()
	for k := range steps {
		left[k][me/4][me%4] = x[k*32+me]
		right[k][me/4][me%4] = x[(steps+k)*32+me]
	}
	t.Sync()
	var sums [4][8]float32
	for k := range steps {
		column, first, second := left[k][me%8], right[k][me/8], right[k][me/8+4]
		for i := range 4 {
			for j := range 4 {
				sums[i][j] += column[i] * first[j]
				sums[i][4+j] += column[i] * second[j]
			}
		}
	}
	for i := range 4 {
		for j := range 8 {
			out[me*32+i*8+j] = sums[i][j]
		}
	}
}

func outers(r *check.Run) {
	in := make([]float32, 2*steps*32)
	for i, v := range numbers(len(in)) {
		in[i] = float32(v) // products and sums of these are exact
	}
	out := check.Make[float32](r, 32*32)
	r.Launch(Outer(r.Stream, device.Blocks{X: 1}, check.Upload(r, in...), out))
	want := make([]float32, 32*32)
	for i := range want {
		me, row, col := i/32, i/8%4, i%8
		for k := range steps {
			want[i] += in[k*32+me%8*4+row] * in[(steps+k)*32+(me/8+col/4*4)*4+col%4]
		}
	}
	check.Want(r, out, want...)
}
