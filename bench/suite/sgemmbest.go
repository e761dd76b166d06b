package suite

import "github.com/gopherwarp/gopherwarp/gpu"

// sgemm32Best is like sgemm32 with four neighbouring elements a thread. n is a multiple of 32.
//
//gpu:kernel
//gpu:block 8,32
func sgemm32Best(t gpu.Thread, a, b, c [][4]float32, n int) {
	as := gpu.Shared[[tile][tile / 4][4]float32](t)
	bs := gpu.Shared[[tile][tile / 4][4]float32](t)
	x, y, groups := t.ThreadX(), t.ThreadY(), n/4
	row, col := t.GlobalY(), t.GlobalX()
	var sum [4]float32
	for start := 0; start < groups; start += tile / 4 {
		as[y][x] = a[row*groups+start+x]
		bs[y][x] = b[(4*start+y)*groups+col]
		t.Sync()
		for k := range tile {
			v := bs[k][x]
			for j := range sum {
				sum[j] += as[y][k/4][k%4] * v[j]
			}
		}
		t.Sync()
	}
	c[row*groups+col] = sum
}

// sgemm64Best is like sgemm64 with two sets of tiles: it reads the next tiles while it computes
// with the present ones. n is a multiple of 64.
//
//gpu:kernel
//gpu:block 16,16
func sgemm64Best(t gpu.Thread, a, b [][2]float32, c [][4]float32, n int) {
	as := gpu.Shared[[2][depth][side/4 + 1][4]float32](t)
	bs := gpu.Shared[[2][depth][side / 4][4]float32](t)
	tx, ty := t.ThreadX(), t.ThreadY()
	me := ty*16 + tx
	top, left := t.BlockY()*side, t.BlockX()*side
	ar, ac, br, bc := me/4, me%4, me/32, me%32
	ia, ib := (top+ar)*(n/2)+ac, br*(n/2)+left/2+bc
	var sums [own][own]float32
	va, vb := a[ia], b[ib]
	buffer := 0
	for start := 0; start < n; start += depth {
		as[buffer][2*ac][ar/4][ar%4] = va[0]
		as[buffer][2*ac+1][ar/4][ar%4] = va[1]
		bs[buffer][br][bc/2][bc%2*2] = vb[0]
		bs[buffer][br][bc/2][bc%2*2+1] = vb[1]
		t.Sync()
		if start+depth < n {
			ia += depth / 2
			ib += depth * (n / 2)
			va, vb = a[ia], b[ib]
		}
		for k := range depth {
			column, row := as[buffer][k][ty], bs[buffer][k][tx]
			for i := range own {
				for j := range own {
					sums[i][j] += column[i] * row[j]
				}
			}
		}
		buffer ^= 1
	}
	for i := range own {
		c[(top+ty*own+i)*(n/4)+left/4+tx] = sums[i]
	}
}
