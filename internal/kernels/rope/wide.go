package rope

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

const threads = 256 // of a block of wide

// wide rotates the heads of a token with each block.
//
//gpu:kernel
//gpu:block 256
func wide[T any, V [4]T | [8]T, A [4]float32 | [8]float32, F row.Format[T]](t gpu.Thread, x []V, angles [][4]float32, c config) {
	var v V
	half, dim, quads := int(c.Half)/len(v), c.Dim/len(v), int(c.Half)/4
	at, angle := t.BlockX()*(c.Stride/len(v)), t.BlockX()*2*quads
	heads := x[at : at+(c.Heads-1)*dim+2*half]
	cosines, sines := angles[angle:angle+quads], angles[angle+quads:angle+2*quads]
	for item := t.ThreadX(); item < c.Heads*half; item += threads {
		i := item % half
		low := item/half*dim + i
		a, b := row.Unpack[T, V, A, F](heads[low]), row.Unpack[T, V, A, F](heads[low+half])
		cos, sin := row.Numbers[A](cosines, i), row.Numbers[A](sines, i)
		for k := range len(a) {
			a[k], b[k] = a[k]*cos[k]-b[k]*sin[k], b[k]*cos[k]+a[k]*sin[k]
		}
		heads[low], heads[low+half] = row.Pack[T, V, A, F](a), row.Pack[T, V, A, F](b)
	}
}
