package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// join stores the sums of parts, one after another, in y or in half, whichever has elements, or adds them to it.
//
//gpu:kernel
func join(t gpu.Thread, parts, y []float32, half []dtype.BF16, add bool) {
	t.StartNext()
	t.AwaitPrevious()
	n := max(len(y), len(half))
	i := t.GlobalX()
	if i >= n {
		return
	}
	var sum float32
	for at := i; at < len(parts); at += n {
		sum += parts[at]
	}
	if len(half) > 0 {
		if add {
			sum += half[i].Float32()
		}
		half[i] = dtype.BF16From32(sum)
		return
	}
	if add {
		sum += y[i]
	}
	y[i] = sum
}

// convert stores elements as those of another type.
//
//gpu:kernel
//gpu:instance ConvertF32 = convert[float32, dtype.BF16, row.F32, row.BF16]
//gpu:instance ConvertBF16 = convert[dtype.BF16, float32, row.BF16, row.F32]
func convert[X, Y Element, F row.Format[X], G row.Format[Y]](t gpu.Thread, x []X, y []Y) {
	var from F
	var to G
	if i := t.GlobalX(); i < len(x) && i < len(y) {
		y[i] = to.Of(from.Float32(x[i]))
	}
}
