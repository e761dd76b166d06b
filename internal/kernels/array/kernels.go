package array

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// block is the number of threads of a block.
const block = 128

// work is an operation on elements of types.
type work struct {
	Op        Op
	X, Y, Out dtype.Type // Y is Invalid if y is the scalar
	Scalar    float64
	Integer   int64 // the scalar for integers
}

// general32 applies any operation in float32. It has a loop, and the loop a store before checks, so that the compiler makes no vector
// code, which would be 400 KB.
//
//gpu:kernel
//gpu:block 128
func general32(t gpu.Thread, x16, y16, out16 []uint16, x32, y32, out32 []float32, out8 []uint8, w work, p places) {
	for i := first(t); i < p.N; i += uint32(t.GridDimX()) * block {
		a, b, c := p.at(i)
		x, y := (&floats{x16, x32}).load(w.X, a), float32(w.Scalar)
		if w.Y != dtype.Invalid {
			y = (&floats{y16, y32}).load(w.Y, b)
		}
		v := of32(w.Op, x, y)
		if w.Out == dtype.Bool {
			out8[c] = uint8(v)
		} else {
			(&floats{out16, out32}).store(w.Out, c, v)
		}
	}
}

// general64 applies any operation in float64.
//
//gpu:kernel
//gpu:block 128
func general64(t gpu.Thread, x, y, out []float64, out8 []uint8, w work, p places) {
	for i := first(t); i < p.N; i += uint32(t.GridDimX()) * block {
		a, b, c := p.at(i)
		right := w.Scalar
		if w.Y != dtype.Invalid {
			right = y[b]
		}
		v := of64(w.Op, x[a], right)
		if w.Out == dtype.Bool {
			out8[c] = uint8(v)
		} else {
			out[c] = v
		}
	}
}

// generalInt applies an operation in int64.
//
//gpu:kernel
//gpu:block 128
func generalInt(t gpu.Thread, x8, y8, out8 []uint8, x32, y32, out32 []int32, x64, y64, out64 []int64, w work, p places) {
	for i := first(t); i < p.N; i += uint32(t.GridDimX()) * block {
		a, b, c := p.at(i)
		y := w.Integer
		if w.Y != dtype.Invalid {
			y = (&integers{y8, y32, y64}).load(w.Y, b)
		}
		(&integers{out8, out32, out64}).store(w.Out, c, ofInt(w.Op, (&integers{x8, x32, x64}).load(w.X, a), y))
	}
}

// flat32 applies an operation of few instructions to contiguous float32 elements. If y is empty, the scalar takes its place. If y is
// shorter than out, each of its elements is for inner neighbours, and they begin again at the end.
//
//gpu:kernel
func flat32(t gpu.Thread, x, y, out []float32, op Op, scalar float32, inner uint32) {
	if i := t.GlobalX(); i < len(out) {
		right := scalar
		if len(y) == len(out) {
			right = y[i]
		} else if n := uint32(len(y)); n > 0 {
			right = y[uint32(i)/max(inner, 1)%n]
		}
		out[i] = cheap32(op, x[i], right)
	}
}

// first returns the first element of a thread.
func first(t gpu.Thread) uint32 { return uint32(t.BlockX())*block + uint32(t.ThreadX()) }
