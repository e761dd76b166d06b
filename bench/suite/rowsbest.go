package suite

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// layerNormBest is layerNorm of four elements at once. cols is a multiple of four.
//
//gpu:kernel
//gpu:block 256
func layerNormBest(t gpu.Thread, x, scale, shift, y [][4]float32, cols int) {
	sums := gpu.Shared[[width / 32]float32](t)
	more := gpu.Shared[[width / 32]float32](t)
	me, groups := t.ThreadX(), cols/4
	from := x[t.BlockX()*groups:][:groups]
	to := y[t.BlockX()*groups:][:groups]
	var sum float32
	for i := me; i < groups; i += width {
		v := from[i]
		sum += (v[0] + v[1]) + (v[2] + v[3])
	}
	mean := blockSum(t, sums, sum) / float32(cols)
	var squares float32
	for i := me; i < groups; i += width {
		v := from[i]
		for k := range v {
			v[k] -= mean
		}
		squares += v[0]*v[0] + v[1]*v[1] + v[2]*v[2] + v[3]*v[3]
	}
	factor := math32.Rsqrt(blockSum(t, more, squares)/float32(cols) + epsilon)
	for i := me; i < groups; i += width {
		v, a, b := from[i], scale[i], shift[i]
		for k := range v {
			v[k] = (v[k]-mean)*factor*a[k] + b[k]
		}
		to[i] = v
	}
}
