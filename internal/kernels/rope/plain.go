package rope

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// plain rotates a head of a token with each block.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func plain[T any, F row.Format[T]](t gpu.Thread, x []T, angles []float32, c config) {
	var f F
	token, head := t.BlockX()/int(c.Heads), t.BlockX()%int(c.Heads)
	half := int(c.Half)
	cosine := 2 * token * half
	sine := cosine + half
	cosines, sines := angles[cosine:cosine+half], angles[sine:sine+half]
	first := token*int(c.Stride) + head*int(c.Dim)
	second := first + half
	low, high := x[first:first+half], x[second:second+half]
	for i := t.ThreadX(); i < half; i += row.Lanes {
		a, b, cos, sin := f.Float32(low[i]), f.Float32(high[i]), cosines[i], c.Sign*sines[i]
		low[i], high[i] = f.Of(a*cos-b*sin), f.Of(b*cos+a*sin)
	}
}
