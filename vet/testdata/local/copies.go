package local

import "github.com/gopherwarp/gopherwarp/gpu"

// A copy between arrays with constant bounds is a loop of few iterations.
//
//gpu:kernel
func copied(t gpu.Thread, out []uint32, v [8]uint32) {
	var w [8]uint32
	v[0] = uint32(t.GlobalX())
	copy(w[:], v[:4])
	copy(w[2:], w[:3])
	out[t.GlobalX()] = w[0] ^ w[1] ^ w[2] ^ w[3] ^ w[7]
}

// An array of pointers to variables leaves neither in memory.
//
//gpu:kernel
func pointers(t gpu.Thread, out []float32, f [2]float32) {
	var a [2]float32
	b, c := f[0], out[t.GlobalX()]
	for k, p := range [...]*float32{&a[0], &a[1], &b, &c} {
		*p += float32(k)
	}
	out[t.GlobalX()] = a[0]*a[1] + b*c
}

// Which row it is, is known when the kernel runs.
//
//gpu:kernel
func chosen(t gpu.Thread, out []float32) {
	var a, b [4]float32 // want `this array of 16 bytes is in local memory, not in registers, because the uses of its address are not known at compile time`
	row := &a
	for i := range out {
		if out[i] > 0 {
			row = &b
		}
		row[i&3] += out[i]
	}
	out[0] = a[1] + b[2]
}
