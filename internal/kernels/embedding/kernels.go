package embedding

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// converter converts an element of the table to one of the result.
type converter[T, U any] interface{ convert(T) U }

// same leaves elements as they are, of any type of the same size.
type same[T any] struct{}

func (same[T]) convert(x T) T { return x }

// widened converts elements to float32.
type widened[T any, F row.Format[T]] struct{}

func (widened[T, F]) convert(x T) float32 {
	var f F
	return f.Float32(x)
}

// widenedQuad converts four elements to float32.
type widenedQuad struct{}

func (widenedQuad) convert(x [4]dtype.BF16) (y [4]float32) {
	for i := range x {
		y[i] = x[i].Float32()
	}
	return y
}

// gather copies a row with each block, of 16 or 256 threads. The condition on the index is the same in all of them.
func gather[T, U any, C converter[T, U]](t gpu.Thread, g gathering[T, U], bad []uint32) {
	var c C
	index := int(g.indices[t.BlockX()])
	valid := index >= 0 && index < int(g.rows)
	if !valid && t.ThreadX() == 0 && len(bad) > 0 {
		gpu.AtomicAdd(&bad[0], 1)
	}
	t.Sync()
	n := int(g.columns)
	to := g.out[t.BlockX()*n : t.BlockX()*n+n]
	if !valid {
		var zero U
		for i := t.ThreadX(); i < n; i += g.threads {
			to[i] = zero
		}
		return
	}
	from := g.table[index*n : index*n+n]
	for i := t.ThreadX(); i < n; i += g.threads {
		to[i] = c.convert(from[i])
	}
}

// gathering is what a kernel works on.
type gathering[T, U any] struct {
	table         []T
	indices       []int32
	out           []U
	rows, columns uint32
	threads       int // of a block
}

// plain copies rows an element at a time.
//
//gpu:kernel
//gpu:block 16
func plain[T, U any, C converter[T, U]](t gpu.Thread, table []T, indices []int32, out []U, bad []uint32, rows, columns uint32) {
	gather[T, U, C](t, gathering[T, U]{table, indices, out, rows, columns, row.Lanes}, bad)
}

const threads = 256 // of a block of wide

// wide copies rows 16 bytes at a time.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
func wide(t gpu.Thread, table [][4]uint32, indices []int32, out [][4]uint32, bad []uint32, rows, columns uint32) {
	gather[[4]uint32, [4]uint32, same[[4]uint32]](t, gathering[[4]uint32, [4]uint32]{table, indices, out, rows, columns, threads}, bad)
}

// wideBF16 copies rows four elements at a time, which it widens.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
func wideBF16(t gpu.Thread, table [][4]dtype.BF16, indices []int32, out [][4]float32, bad []uint32, rows, columns uint32) {
	gather[[4]dtype.BF16, [4]float32, widenedQuad](t, gathering[[4]dtype.BF16, [4]float32]{table, indices, out, rows, columns, threads}, bad)
}
