package gpu

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Accumulator is a thread's part of a matrix of 64 rows that a warp group holds, with twice as many
// columns as the array has elements. With l the thread's lane and w its warp's index in the group, elements
// 4*j and 4*j+1 are those of row 16*w + l/4 at columns 8*j + 2*(l%4) and the next, elements 4*j+2 and
// 4*j+3 those of the same columns eight rows below.
type Accumulator interface {
	[4]float32 | [8]float32 | [16]float32 | [24]float32 | [32]float32 | [48]float32 | [64]float32 | [80]float32 | [96]float32 | [112]float32 | [128]float32
}

// Operand is a slice through panels, 32 bytes of the dimension that a product sums over: an
// Along or a Down.
type Operand[T Multiplicand] interface {
	element(i, k int) T
}

// Along is an Operand whose sum runs along the rows of the panels.
type Along[T Multiplicand] struct {
	panels []Panel[T]
	step   int
}

// Down is an Operand whose sum runs down the columns of the panels. T has two bytes.
type Down[T Half] struct {
	panels []Panel[T]
	step   int
}

// AlongRows returns 32 bytes of each row of the panels, which lie one below the other: the first
// for step 0, the last for step 3.
func AlongRows[T Multiplicand](panels []Panel[T], step int) Along[T] { return Along[T]{panels, step} }

// DownColumns returns 16 rows of the panels, which lie side by side: the first for step 0, the
// last for step 3.
func DownColumns[T Half](panels []Panel[T], step int) Down[T] { return Down[T]{panels, step} }

func (o Along[T]) element(i, k int) T {
	return *o.panels[i/PanelRows].At(i%PanelRows, o.step*stepBytes/int(unsafe.Sizeof(*new(T)))+k)
}

func (o Down[T]) element(i, k int) T {
	return *o.panels[i/PanelRows].At(o.step*stepBytes/int(unsafe.Sizeof(*new(T)))+k, i%PanelRows)
}

const stepBytes = 32 // of the sum in one product

// MultiplyAsync starts to add a*b to *acc on the tensor cores and does not wait for it (PTX:
// wgmma; compute capability 9.0 only). The 128 threads of a warp group call it
// together, none of which has left the kernel. a has 64 rows, b as many columns as the
// accumulator; the sum runs over 32 bytes of both: 16 elements of two bytes, 8 of four, 32 of one.
//
//	t.FenceProducts()
//	for step := range 4 {
//		gpu.MultiplyAsync(t, &acc, gpu.AlongRows(left[:], step), gpu.DownColumns(right[:], step))
//	}
//	t.CommitProducts()
//	gpu.AwaitProducts(t, &acc, 0)
//
// Until AwaitProducts nothing may look at or change *acc, nor change the panels. The
// results differ from exact ones by up to 1<<-12 times (for elements of one byte) or 1<<-20 times (others) the sum of the
// magnitudes that are added. On the CPU it is done at once.
func MultiplyAsync[A Accumulator, T Multiplicand, L, R Operand[T]](t Thread, acc *A, a L, b R) {
	in := t.linear() % WarpGroupSize
	row0, col0 := in/32*16+in%32/4, in%4*2
	depth := stepBytes / int(unsafe.Sizeof(*new(T)))
	upper, lower := multiplicands[T](a, row0, depth), multiplicands[T](a, row0+8, depth)
	for c := range len(*acc) / 2 {
		e := c/2*4 + c%2
		x, y := (*acc)[e], (*acc)[e+2]
		column := multiplicands[T](b, c/2*8+col0+c%2, depth)
		for k, v := range column[:depth] {
			x += upper[k] * v
			y += lower[k] * v
		}
		(*acc)[e], (*acc)[e+2] = x, y
	}
}

// multiplicands returns the first n numbers of row or column i of an operand as tensor cores take them. It is
// done once for all products of a thread that they are in.
func multiplicands[T Multiplicand, O Operand[T]](o O, i, n int) (x [stepBytes]float32) {
	for k := range n {
		x[k] = asFloat32(o.element(i, k))
	}
	return x
}

// asFloat32 returns what tensor cores take x for.
func asFloat32[T Multiplicand](x T) float32 {
	switch x := any(x).(type) {
	case dtype.F16:
		return x.Float32()
	case dtype.BF16:
		return x.Float32()
	case dtype.F8E4M3:
		return x.Float32()
	case dtype.F8E5M2:
		return x.Float32()
	case float32:
		return truncated(x)
	}
	panic("BUG: gpu: a multiplicand of no type")
}

// truncated returns x with the 10 bits of a TF32's mantissa.
func truncated(x float32) float32 { return fromBits[float32](toBits(x) &^ 0x1fff) }

// FenceProducts orders the thread's accesses to accumulators and panels before the products that follow: it
// stands before the first one of a group.
func (t Thread) FenceProducts() {}

// CommitProducts makes a group of the products that the warp has started since it last did.
func (t Thread) CommitProducts() {}

// AwaitProducts waits until all the warp's groups of products are done but the newest ones, of
// which it leaves the given number, a constant from 0 to 7. *acc is one of their accumulators: with several, call it for each.
func AwaitProducts[A Accumulator](t Thread, acc *A, leave int) {
	t.block.Meet(t.linear(), simt.Products, 0) // when one thread goes on, the panels of all may change
}

// TakeRegisters lets each thread of the warp group have n registers from here on, which others have given up: a
// multiple of 8 from 24 to 256, a constant (PTX: setmaxnreg; compute capability 9.0 only). All
// threads of the warp group call it, and wait until there are so many. The kernel has a fixed block; its
// threads start with an equal share of 65536 registers, a multiple of 8.
func (t Thread) TakeRegisters(n int) {}

// GiveRegisters gives all registers of each thread of the warp group up but n. It is TakeRegisters'
// counterpart.
func (t Thread) GiveRegisters(n int) {}
