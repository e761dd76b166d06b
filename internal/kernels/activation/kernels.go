package activation

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// MapKernel applies a function to each number of x, and stores the results in y. The function is the method Of of the type that the
// //gpu:instance directive names. Each thread computes one element of y, which is a vector of several numbers.
//
//gpu:kernel
func MapKernel[V row.Vector[V], O Op](t gpu.Thread, x, y []V) {
	var o O
	if i := t.GlobalX(); i < len(y) {
		y[i] = x[i].Map(o.Of)
	}
}

// apply stores a function of each element of x in y.
//
//gpu:kernel
func apply[V row.Vector[V]](t gpu.Thread, x, y []V, f Function) {
	if i := t.GlobalX(); i < len(y) {
		y[i] = x[i].Map(f.of)
	}
}

// wide is apply for 16 bytes at a time, of functions of few instructions.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func wide[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, x, y []row.Words, f Function) {
	var format F
	for i := t.GlobalX(); i < len(y); i += t.GridDimX() * threads {
		y[i] = format.Pack(quick(format.Unpack(x[i]), f))
	}
}

// glu stores silu(gate)*up for rows of columns elements, which are stride elements from each other in gate and up. The blocks of a
// row have its number as their index along y.
//
//gpu:kernel
//gpu:block 256
func glu[V row.Vector[V]](t gpu.Thread, gate, up, y []V, columns, stride uint32) {
	if column, at := t.GlobalX(), t.BlockY(); column < int(columns) {
		from := at*int(stride) + column
		y[at*int(columns)+column] = gate[from].Map2(up[from], gated)
	}
}

// wideGLU is glu for 16 bytes at a time, and for any number of rows.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func wideGLU[V row.Vector[V]](t gpu.Thread, gate, up, y []V, rows, columns, stride uint32) {
	t.StartNext()
	t.AwaitPrevious()
	column := t.GlobalX()
	if column >= int(columns) {
		return
	}
	for at := t.BlockY(); at < int(rows); at += t.GridDimY() {
		from := at*int(stride) + column
		y[at*int(columns)+column] = gate[from].Map2(up[from], gated)
	}
}

// gluPairs stores silu(gate)*up for neighbours in x.
//
//gpu:kernel
func gluPairs[T any, F row.Format[T]](t gpu.Thread, x [][2]T, y []T) {
	var f F
	if i := t.GlobalX(); i < len(y) {
		y[i] = f.Of(gated(f.Float32(x[i][0]), f.Float32(x[i][1])))
	}
}
