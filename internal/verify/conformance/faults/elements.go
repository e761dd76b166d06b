package faults

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//gpu:kernel
func product(t gpu.Thread, a, b, c []float32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i] * b[i] // product
	}
}

//gpu:kernel
func double(t gpu.Thread, x []float64, y []int16, z []uint8) {
	if i := t.GlobalX(); i < len(x) {
		x[i], y[i], z[i] = 2*x[i], y[i]+int16(i), z[i]^5
	}
}

// elementCases are about kernels that do an element a thread, which the compiler may turn into
// ones that do several: odd numbers of them, parts of buffers, results in place of arguments.
func elementCases() []check.Case {
	return []check.Case{
		{Name: "elements of every number", Run: everyNumber},
		{Name: "elements of three sizes", Run: threeSizes},
		{Name: "the element that faults", Run: elementFault},
	}
}

// everyNumber multiplies parts of buffers that start anywhere, in grids that fit or do not.
func everyNumber(r *check.Run) {
	const most = 40
	host := make([]float32, most+4)
	for i := range host {
		host[i] = float32(i + 1)
	}
	for n := range most + 1 {
		off := n % 4
		a, c := check.Upload(r, host...), check.Upload(r, host...)
		g := check.Blocks(1+n/5, 5)
		part := c.Slice(off, off+n)
		other := a.Slice(n/4%4, n/4%4+n)
		r.Launch(Product(r.Stream, g, other, part, part))
		want := append([]float32(nil), host...)
		for i := range n {
			want[off+i] *= host[n/4%4+i]
		}
		check.Want(r, c, want...)
	}
}

func threeSizes(r *check.Run) {
	const n = 37
	var x []float64
	var y []int16
	var z []uint8
	for i := range n {
		x, y, z = append(x, float64(i)), append(y, int16(-i)), append(z, uint8(i))
	}
	dx, dy, dz := check.Upload(r, x...), check.Upload(r, y...), check.Upload(r, z...)
	r.Launch(Double(r.Stream, check.Blocks(5, 8), dx, dy, dz))
	for i := range n {
		x[i], y[i], z[i] = 2*x[i], 0, z[i]^5
	}
	check.Want(r, dx, x...)
	check.Want(r, dy, y...)
	check.Want(r, dz, z...)
}

// elementFault has slices that are one element too short, so that one thread faults.
func elementFault(r *check.Run) {
	for n := 1; n <= 17; n++ {
		a, c := check.Make[float32](r, n-1), check.Make[float32](r, n)
		r.Launch(Product(r.Stream, device.Cover(n, 3), c, a, c))
		want := fault("product", "elements.go", "product", fmt.Sprintf("index out of range [%d] with length %d", n-1, n-1))
		want.Block, want.Thread = [3]int{(n - 1) / 3}, [3]int{(n - 1) % 3}
		r.Fault(want)
	}
}
