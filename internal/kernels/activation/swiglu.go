package activation

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// swiGLU stores gate*sigmoid(gate)*up (Shazeer, "GLU Variants Improve Transformer").
//
//gpu:kernel
func swiGLU(t gpu.Thread, gate, up, out []dtype.BF16) {
	i := t.GlobalX()
	if i >= len(out) {
		return
	}
	out[i] = dtype.BF16From32(silu(gate[i].Float32()) * up[i].Float32())
}

// silu returns x*sigmoid(x).
func silu(x float32) float32 { return x / (1 + math32.Exp(-x)) }
