package rope

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

const threads = 256 // of a block of wide

// wide rotates the heads of a token with each block.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func wide[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, x []row.Words, angles []A, c config) {
	var v A
	var f F
	half, dim := int(c.Half)/len(v), int(c.Dim)/len(v)
	at, angle := t.BlockX()*int(c.Stride)/len(v), t.BlockX()*2*half
	sine := angle + half
	heads, cosines, sines := x[at:at+int(c.Heads)*dim], angles[angle:angle+half], angles[sine:sine+half]
	for item := t.ThreadX(); item < int(c.Heads)*half; item += threads {
		i := item % half
		low := item/half*dim + i
		a, b, cos, sin := f.Unpack(heads[low]), f.Unpack(heads[low+half]), cosines[i], sines[i]
		for k := range len(a) {
			sin[k] *= c.Sign
			a[k], b[k] = a[k]*cos[k]-b[k]*sin[k], b[k]*cos[k]+a[k]*sin[k]
		}
		heads[low], heads[low+half] = f.Pack(a), f.Pack(b)
	}
}
