package suite

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// rowWidth is the number of threads of softmaxBest, rowQuads how many quads of a row it holds.
const (
	rowWidth = 512
	rowQuads = 4096
)

// blockMax returns the largest v of a block of rowWidth threads to all of them.
func blockMax(t gpu.Thread, part *[rowWidth / 32]float32, v float32) float32 {
	for d := 16; d > 0; d /= 2 {
		v = max(v, gpu.ShuffleXor(t, v, d))
	}
	me := t.ThreadX()
	if me%32 == 0 {
		part[me/32] = v
	}
	t.Sync()
	v = part[me%len(part)]
	for d := len(part) / 2; d > 0; d /= 2 {
		v = max(v, gpu.ShuffleXor(t, v, d))
	}
	return v
}

// softmaxBest is like softmax for rows of up to 16384 elements, a multiple of four. Asynchronous copies read a row once, and it stays in
// shared memory until its quotients are known. Three blocks share a multiprocessor: while one computes, the others read and write.
//
//gpu:kernel
//gpu:block 512
func softmaxBest(t gpu.Thread, x, y [][4]float32, cols int) {
	row := gpu.Shared[[rowQuads][4]float32](t)
	parts := gpu.Shared[[rowWidth / 32]float32](t)
	sums := gpu.Shared[[rowWidth / 32]float32](t)
	me, groups := t.ThreadX(), cols/4
	from := x[t.BlockX()*groups:][:groups]
	to := y[t.BlockX()*groups:][:groups]
	held := row[:groups]
	for i := me; i < groups; i += rowWidth { // each thread takes what it has copied itself
		gpu.CopyAsync(t, &held[i], &from[i])
	}
	t.CommitCopies()
	t.WaitCopies(0)
	largest := math32.Inf(-1)
	for i := me; i < groups; i += rowWidth {
		v := held[i]
		largest = max(largest, v[0], v[1], v[2], v[3])
	}
	largest = blockMax(t, parts, largest)
	var sum float32
	for i := me; i < groups; i += rowWidth {
		v := held[i]
		for k := range v {
			v[k] = math32.Exp(v[k] - largest)
		}
		sum += (v[0] + v[1]) + (v[2] + v[3])
		held[i] = v
	}
	sum = warpSum(t, sum)
	if me%32 == 0 {
		sums[me/32] = sum
	}
	t.Sync()
	sum = 0
	if me%32 < len(sums) {
		sum = sums[me%32]
	}
	inverse := 1 / warpSum(t, sum)
	for i := me; i < groups; i += rowWidth {
		v := held[i]
		for k := range v {
			v[k] *= inverse
		}
		to[i] = v
	}
}

// layerNormBest is like layerNorm, four elements at a time. cols is a multiple of four.
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
