package lora

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// The tensor cores multiply 16 rows of an adapter's matrix by the transposed rows of a group. The order of the columns in a product is
// free, so each thread loads neighbouring ones: lane l has columns of row l/4 of each operand.

const (
	matrixRows  = 16  // of an operand of gpu.MMA
	shrinkers   = 512 // threads of a block of shrinkTensor
	ahead       = 4   // words of each row that a thread of it loads at once
	tiles       = 4   // of results of each thread of expandTensor
	tileColumns = 8   // of Y for each thread
)

type tile = gpu.Tile[dtype.BF16]

// shrinkTensor computes matrixRows columns of H for a group with each block. Its warps divide the columns of X.
//
//gpu:kernel
//gpu:target sm_80
//gpu:twin off
//gpu:block 512
func shrinkTensor(t gpu.Thread, x, a []row.Words, groups []Group, h []float32, c sizes) {
	const warps = shrinkers / gpu.WarpSize
	parts := gpu.Shared[[warps][matrixRows * groupRows]float32](t)
	g := groups[t.BlockX()]
	if uint32(g.Adapter) >= c.Adapters {
		return
	}
	n, upper := int(c.Columns), t.BlockY()*matrixRows+t.Lane()/4
	lower, from := upper+matrixRows/2, int(g.Adapter)*int(c.Stack)
	at := uint32(groups[t.BlockX()].Rows[t.Lane()/4])
	var sums [2][4]float32
	for first := t.Warp() * 4; first < n; first += ahead * warps * 4 {
		var v, w, z [ahead]row.Words
		for i := range ahead {
			if k := first + i*warps*4 + t.Lane()%4; k < n {
				if upper < int(c.Stack) {
					v[i] = a[(from+upper)*n+k]
				}
				if lower < int(c.Stack) {
					w[i] = a[(from+lower)*n+k]
				}
				if at < c.Rows {
					z[i] = x[int(at)*n+k]
				}
			}
		}
		for i := range ahead {
			for half := range sums {
				sums[half] = gpu.MMA(t, [4]tile{tile(v[i][2*half]), tile(w[i][2*half]), tile(v[i][2*half+1]), tile(w[i][2*half+1])},
					[2]tile{tile(z[i][2*half]), tile(z[i][2*half+1])}, sums[half])
			}
		}
	}
	for i := range sums[0] {
		parts[t.Warp()][(t.Lane()/4+i/2*8)*groupRows+t.Lane()%4*2+i%2] = sums[0][i] + sums[1][i]
	}
	t.Sync()
	if me := t.ThreadX(); me < matrixRows*groupRows {
		sum := float32(0)
		for w := range warps {
			sum += parts[w][me]
		}
		column := t.BlockY()*matrixRows + me/groupRows
		if at := uint32(groups[t.BlockX()].Rows[me%groupRows]); at < c.Rows && column < int(c.Stack) {
			h[int(at)*int(c.Stack)+column] = sum
		}
	}
}

// expandTensor adds to tileColumns columns of Y with each thread, for two rows of a group. The elements of H are the sums of two of the
// tensor cores' numbers. The number of columns of Y and those of all segments are multiples of tileColumns.
//
//gpu:kernel
//gpu:target sm_80
//gpu:twin off
//gpu:block 256
func expandTensor[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, h [][4]float32, b [][2]uint32, groups []Group, y []row.Words, c places) {
	g := groups[t.BlockX()]
	if uint32(g.Adapter) >= c.Adapters {
		return
	}
	p, quads, quad := c.segment(uint32(t.BlockY())), int(c.Rank/4), t.Lane()%4
	o := ((t.BlockY()-int(p.Tile))*threads + t.ThreadX()) / 4 * tileColumns
	at, from := uint32(groups[t.BlockX()].Rows[t.Lane()/4]), int(g.Adapter)*int(c.Out)+int(p.First)+o
	var sums [tiles][4]float32
	for first := 0; first < quads; first += 4 {
		var v [tileColumns][2]uint32
		var z [4]float32
		if k := first + quad; k < quads {
			if o < int(p.Count) {
				for i := range v {
					v[i] = b[(from+i)*quads+k]
				}
			}
			if at < c.Rows {
				z = h[int(at)*int(c.Stack/4)+int(p.Shift/4)+k]
			}
		}
		for _, z := range halves(z) {
			for i := range sums {
				sums[i] = gpu.MMA(t, [4]tile{tile(v[2*i][0]), tile(v[2*i+1][0]), tile(v[2*i][1]), tile(v[2*i+1][1])}, z, sums[i])
			}
		}
	}
	for i := range 2 {
		if at := uint32(groups[t.BlockX()].Rows[2*quad+i]); at < c.Rows && o < int(p.Count) {
			addEight[A, F](y, int(at)*int(c.Width/tileColumns)+(int(p.To)+o)/tileColumns, sums, i)
		}
	}
}

// halves returns the numbers of z as sums of two numbers of the tensor cores.
func halves(z [4]float32) (parts [2][2]tile) {
	for i := range parts {
		for j := range parts[i] {
			low, high := dtype.BF16From32(z[2*j]), dtype.BF16From32(z[2*j+1])
			parts[i][j] = tile(low) | tile(high)<<16
			z[2*j] -= low.Float32()
			z[2*j+1] -= high.Float32()
		}
	}
	return parts
}

// addEight adds to eight elements of Y the sums of the even rows of a group, or of the odd ones.
func addEight[A [4]float32 | [8]float32, F row.Vectors[A]](y []row.Words, at int, sums [tiles][4]float32, odd int) {
	var f F
	var v A
	words := tileColumns / len(v)
	for w := range words {
		v = f.Unpack(y[at*words+w])
		for i := range len(v) {
			k := w*len(v) + i
			v[i] += sums[k/2][k%2*2+odd]
		}
		y[at*words+w] = f.Pack(v)
	}
}
