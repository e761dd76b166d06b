package halves

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// narrowing rounds floats to elements that lie next to each other.
//
//gpu:kernel
func narrowing(t gpu.Thread, in []float32, h []dtype.F16, b []dtype.BF16, e []dtype.F8E4M3, f []dtype.F8E5M2) {
	if i := t.GlobalX(); i < len(in) && i < len(h) && i < len(b) && i < len(e) && i < len(f) {
		x := in[i]
		h[i], b[i], e[i], f[i] = dtype.F16From32(x), dtype.BF16From32(x), dtype.F8E4M3From32(x), dtype.F8E5M2From32(x)
	}
}

// widened is small floats as float32s: of neighbouring threads' elements, and of the element at the other end.
type widened struct {
	F16, BF16, E4M3, E5M2     float32
	LastF16, LastBF16, Halves float32
}

// widening reads elements that lie next to each other.
//
//gpu:kernel
func widening(t gpu.Thread, h []dtype.F16, b []dtype.BF16, e []dtype.F8E4M3, f []dtype.F8E5M2, out []widened) {
	i := t.GlobalX()
	if i >= len(out) {
		return
	}
	w := widened{h[i].Float32(), b[i].Float32(), e[i].Float32(), f[i].Float32(), h[len(h)-1-i].Float32(), b[len(b)-1-i].Float32(), 0}
	if i%3 > 0 {
		w.Halves = h[0].Float32() + b[i/2].Float32()
	}
	out[i] = w
}

// neighbours narrows floats of all signs and exponents, and widens all small floats, on slices whose lengths no number of lanes
// divides.
func neighbours(r *check.Run) {
	const n = 1<<16 - 5
	in := make([]float32, n)
	h, b, e, f := make([]dtype.F16, n), make([]dtype.BF16, n), make([]dtype.F8E4M3, n), make([]dtype.F8E5M2, n)
	wantH, wantB, wantE, wantF := make([]dtype.F16, n), make([]dtype.BF16, n), make([]dtype.F8E4M3, n), make([]dtype.F8E5M2, n)
	want := make([]widened, n)
	for i := range n {
		x := math.Float32frombits(spread(uint32(i)))
		in[i], h[i], b[i], e[i], f[i] = x, dtype.F16(i), dtype.BF16(i), dtype.F8E4M3(i), dtype.F8E5M2(i)
		wantH[i], wantB[i], wantE[i], wantF[i] = dtype.F16From32(x), dtype.BF16From32(x), dtype.F8E4M3From32(x), dtype.F8E5M2From32(x)
	}
	for i := range n {
		w := &want[i]
		w.F16, w.BF16, w.E4M3, w.E5M2 = h[i].Float32(), b[i].Float32(), e[i].Float32(), f[i].Float32()
		w.LastF16, w.LastBF16 = h[n-1-i].Float32(), b[n-1-i].Float32()
		if i%3 > 0 {
			w.Halves = h[0].Float32() + b[i/2].Float32()
		}
	}
	gotH, gotB, gotE, gotF := check.Make[dtype.F16](r, n), check.Make[dtype.BF16](r, n), check.Make[dtype.F8E4M3](r, n), check.Make[dtype.F8E5M2](r, n)
	r.Launch(Narrowing(r.Stream, device.Cover(n, 64), check.Upload(r, in...), gotH, gotB, gotE, gotF))
	check.Want(r, gotH, wantH...)
	check.Want(r, gotB, wantB...)
	check.Want(r, gotE, wantE...)
	check.Want(r, gotF, wantF...)
	out := check.Make[widened](r, n)
	r.Launch(Widening(r.Stream, device.Cover(n, 64), check.Upload(r, h...), check.Upload(r, b...), check.Upload(r, e...), check.Upload(r, f...), out))
	check.Want(r, out, want...)
}
