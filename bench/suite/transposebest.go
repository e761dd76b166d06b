package suite

import "github.com/gopherwarp/gopherwarp/gpu"

// transposeNaiveBest transposes without shared memory: a thread moves 4 x 4 elements. Rows have n/4
// groups of four.
//
//gpu:kernel
//gpu:block 8,32
func transposeNaiveBest(t gpu.Thread, a, b [][4]float32, n int) {
	x, y, groups := t.GlobalX(), t.GlobalY(), n/4
	if x >= groups || y >= groups {
		return
	}
	r0, r1, r2, r3 := a[4*y*groups+x], a[(4*y+1)*groups+x], a[(4*y+2)*groups+x], a[(4*y+3)*groups+x]
	for j := range 4 {
		b[(4*x+j)*groups+y] = [4]float32{r0[j], r1[j], r2[j], r3[j]}
	}
}

// wideTile is the width and height of the tiles of transposeTiledBest.
const wideTile = 64

// transposeTiledBest moves tiles of 64 x 64 through shared memory, four elements at a time on
// both sides. n is a multiple of 64.
//
//gpu:kernel
//gpu:block 16,16
func transposeTiledBest(t gpu.Thread, a, b [][4]float32, n int) {
	part := gpu.Shared[[wideTile][wideTile + 1]float32](t)
	tx, ty, groups := t.ThreadX(), t.ThreadY(), n/4
	x, y := t.BlockX()*wideTile/4, t.BlockY()*wideTile
	for j := 0; j < wideTile; j += 16 {
		v := a[(y+ty+j)*groups+x+tx]
		for k := range v {
			part[ty+j][4*tx+k] = v[k]
		}
	}
	t.Sync()
	x, y = t.BlockY()*wideTile/4, t.BlockX()*wideTile
	for j := 0; j < wideTile; j += 16 {
		var v [4]float32
		for k := range v {
			v[k] = part[4*tx+k][ty+j]
		}
		b[(y+ty+j)*groups+x+tx] = v
	}
}
