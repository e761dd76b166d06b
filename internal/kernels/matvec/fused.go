package matvec

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// addProduct adds the product of w and x to y. A warp has R neighbouring rows.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:target sm_80
//gpu:instance AddProduct = addProduct[deep]
func addProduct[R reach](t gpu.Thread, w, x []quad, y []float32) {
	t.StartNext()
	var r R
	near := gpu.DynamicShared[quad](t)
	b := begin[R](t, w, layout{groups: len(y) / r.count(), quads: len(near), each: r.count()})
	t.AwaitPrevious()
	stage(t, near, x)
	t.Sync()
	for b.more() {
		to := y[b.group*r.count():][:r.count()]
		var was float32
		if t.Lane() < r.count() {
			was = to[t.Lane()]
		}
		sums := b.multiply(t, near)
		for i := range to {
			if t.Lane() == i {
				to[i] = was + sums[i]
			}
		}
	}
}

// normSwiGLU stores SwiGLU of the products of the normalized x with rows of the first half of w and of the second. A warp has
// as many neighbouring rows of each half as R is half of.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:target sm_80
//gpu:instance NormSwiGLU = normSwiGLU[deep]
func normSwiGLU[R reach](t gpu.Thread, w, gain []quad, x []numbers, epsilon float32, out []dtype.BF16) {
	t.StartNext()
	var r R
	near := gpu.DynamicShared[quad](t)
	each := r.count() / 2
	b := begin[R](t, w, layout{groups: len(out) / each, quads: len(near), each: each, far: len(out)})
	stage(t, near, gain)
	t.AwaitPrevious()
	normalize(t, near, x, epsilon)
	for b.more() {
		to := out[b.group*each:][:each]
		sums := b.multiply(t, near)
		for i := range to {
			if t.Lane() == i {
				to[i] = dtype.BF16From32(silu(sums[i]) * sums[each+i])
			}
		}
	}
}

// silu returns x*sigmoid(x).
func silu(x float32) float32 { return x / (1 + math32.Exp(-x)) }

// normLogits stores the products of w and the normalized x, and for each block the key of its largest one.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:target sm_80
//gpu:instance NormLogits = normLogits[shallow]
func normLogits[R reach](t gpu.Thread, w, gain []quad, x []numbers, epsilon float32, logits []float32, best []uint64) {
	t.StartNext()
	var r R
	near := gpu.DynamicShared[quad](t)
	keys := gpu.Shared[[warpSize]uint64](t)
	b := begin[R](t, w, layout{groups: len(logits) / r.count(), quads: len(near), each: r.count()})
	stage(t, near, gain)
	t.AwaitPrevious()
	normalize(t, near, x, epsilon)
	var key uint64
	for b.more() {
		row := b.group * r.count()
		to := logits[row:][:r.count()]
		sums := b.multiply(t, near)
		for i := range to {
			if t.Lane() == i {
				to[i] = sums[i]
			}
			key = max(key, Key(sums[i], row+i))
		}
	}
	if t.Lane() == 0 {
		keys[t.Warp()] = key
	}
	t.Sync()
	if t.ThreadX() == 0 {
		for i := 1; i < t.BlockDimX()/warpSize; i++ {
			key = max(key, keys[i])
		}
		best[t.BlockX()] = key
	}
}
