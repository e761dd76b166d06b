package values

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// weighted stores the elements of x in out, multiplied by their weights if there are any.
//
//gpu:kernel
func weighted(t gpu.Thread, x, weights, out []float32) {
	i := t.GlobalX()
	if i >= len(out) {
		return
	}
	v := x[i]
	if weights != nil {
		v *= weights[i]
	}
	out[i] = v
}

// present stores which of the slices are not nil.
//
//gpu:kernel
func present(t gpu.Thread, a []int32, b []uint8, out []int32) {
	if a != nil {
		out[0] = 1
	}
	if b == nil {
		out[1] = 2
	}
	out[2] = int32(len(a) + cap(b))
}

// optional passes slices and None to parameters that may be nil.
func optional(r *check.Run) {
	const n = 70
	var numbers, weights, products [n]float32
	for i := range n {
		numbers[i], weights[i] = float32(i), float32(i%7)
		products[i] = numbers[i] * weights[i]
	}
	x, out := check.Upload(r, numbers[:]...), check.Make[float32](r, n)
	r.Launch(Weighted(r.Stream, device.Cover(n, 32), x, device.None[float32](), out))
	check.Want(r, out, numbers[:]...)
	r.Launch(Weighted(r.Stream, device.Cover(n, 32), x, check.Upload(r, weights[:]...), out))
	check.Want(r, out, products[:]...)

	flags := check.Make[int32](r, 3)
	r.Launch(Present(r.Stream, check.Threads(1), device.None[int32](), device.None[uint8](), flags))
	check.Want(r, flags, 0, 2, 0)
	flags = check.Make[int32](r, 3)
	r.Launch(Present(r.Stream, check.Threads(1), check.Upload[int32](r, 4, 5).Slice(1, 1), check.Make[uint8](r, 3), flags))
	check.Want(r, flags, 1, 0, 3)
}
