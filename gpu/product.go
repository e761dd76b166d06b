package gpu

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Accumulator is a thread's part of a matrix that a warp group holds. The matrix has 64 rows and
// twice as many columns as the array has elements. If l is the thread's lane and w is its warp's
// index in the group, elements 4*j and 4*j+1 are in row 16*w + l/4 at column 8*j + 2*(l%4) and the
// next column. Elements 4*j+2 and 4*j+3 are at the same columns, eight rows below.
type Accumulator interface {
	[4]float32 | [8]float32 | [16]float32 | [24]float32 | [32]float32 | [48]float32 | [64]float32 | [80]float32 | [96]float32 | [112]float32 | [128]float32
}

// Operand is the part of a slice of panels that one product multiplies: 32 bytes along the
// dimension over which the product sums. An Operand is an Along or a Down.
type Operand[T Multiplicand] interface {
	element(i, k int) T
}

// Along is an Operand whose summed dimension runs along the rows of the panels.
type Along[T Multiplicand] struct {
	panels []Panel[T]
	step   int
}

// Down is an Operand whose summed dimension runs down the columns of the panels. T has two bytes.
type Down[T Half] struct {
	panels []Panel[T]
	step   int
}

// AlongRows returns the operand that consists of 32 bytes of each row of the panels. The panels are
// stacked vertically. Step 0 selects the first 32 bytes of each row, and step 3 the last.
func AlongRows[T Multiplicand](panels []Panel[T], step int) Along[T] { return Along[T]{panels, step} }

// DownColumns returns the operand that consists of 16 rows of the panels. The panels are side by
// side. Step 0 selects the first 16 rows, and step 3 the last.
func DownColumns[T Half](panels []Panel[T], step int) Down[T] { return Down[T]{panels, step} }

func (o Along[T]) element(i, k int) T {
	return *o.panels[i/PanelRows].At(i%PanelRows, o.step*stepBytes/int(unsafe.Sizeof(*new(T)))+k)
}

func (o Down[T]) element(i, k int) T {
	return *o.panels[i/PanelRows].At(o.step*stepBytes/int(unsafe.Sizeof(*new(T)))+k, i%PanelRows)
}

const stepBytes = 32 // the extent in bytes of the summed dimension of one product

// MultiplyAsync starts to add a*b to *acc on the tensor cores and does not wait for the result
// (PTX: wgmma; only on compute capability 9.0). All 128 threads of a warp group must call
// MultiplyAsync together, so no thread of the group may exit before the call. a has 64 rows, and b
// has as many columns as the accumulator. Each row of a and each column of b has 32 bytes: 32
// elements of one byte, 16 elements of two bytes or 8 elements of four bytes.
//
//	t.FenceProducts()
//	for step := range 4 {
//		gpu.MultiplyAsync(t, &acc, gpu.AlongRows(left[:], step), gpu.DownColumns(right[:], step))
//	}
//	t.CommitProducts()
//	gpu.AwaitProducts(t, &acc, 0)
//
// Until AwaitProducts returns, the kernel must not access *acc or write to the panels. The error of
// a result is at most 2^-20 times the sum of the magnitudes of its terms, or 2^-12 times that sum
// for elements of one byte. On the CPU, MultiplyAsync completes at once.
func MultiplyAsync[A Accumulator, T Multiplicand, L, R Operand[T]](t Thread, acc *A, a L, b R) {
	in := t.linear() % WarpGroupSize
	row, depth := in/32*16+in%32/4, stepBytes/int(unsafe.Sizeof(*new(T)))
	addProducts[A, T](acc, leftRows{multiplicands[T](a, row, depth), multiplicands[T](a, row+8, depth), depth}, b, in%4*2)
}

// ProductAsync is like MultiplyAsync, but replaces *acc with a*b instead of adding to it. The
// previous value of *acc is lost.
func ProductAsync[A Accumulator, T Multiplicand, L, R Operand[T]](t Thread, acc *A, a L, b R) {
	*acc = *new(A)
	MultiplyAsync(t, acc, a, b)
}

// MultiplyTilesAsync is like MultiplyAsync for a left operand that the warp group holds in
// registers. Each warp passes 16 of the operand's 64 rows, in the layout of MMA's operand a.
//
// To use an accumulator as the left operand of a later product, round its elements to T and pack
// them in pairs: for columns 16*k to 16*k+15, tile i consists of elements 8*k+2*i and 8*k+2*i+1 of
// the thread's accumulator.
func MultiplyTilesAsync[A Accumulator, T Half, R Operand[T]](t Thread, acc *A, a [4]Tile[T], b R) {
	left := gather(t, simt.MultiplyTiles, pair(a[0], a[2]))
	right := gather(t, simt.MultiplyTiles, pair(a[1], a[3]))
	in := t.linear() % WarpGroupSize
	var upper, lower [stepBytes]float32
	for k := range tileDepth {
		lane, shift := in%32/4*4+k%8/2, k/8*32+k%2*16
		upper[k], lower[k] = toFloat32[T](left[lane]>>shift), toFloat32[T](right[lane]>>shift)
	}
	addProducts[A, T](acc, leftRows{upper, lower, tileDepth}, b, in%4*2)
}

const tileDepth = 16 // columns of a left operand that consists of tiles

// leftRows is two rows of a left operand, eight rows apart, on which a thread's part of an
// accumulator depends.
type leftRows struct {
	upper, lower [stepBytes]float32
	depth        int
}

// addProducts adds the products of the rows with the columns of b that belong to the thread's part
// of an accumulator. column is the first of them.
func addProducts[A Accumulator, T Multiplicand, R Operand[T]](acc *A, a leftRows, b R, column int) {
	for c := range len(*acc) / 2 {
		e := c/2*4 + c%2
		x, y := (*acc)[e], (*acc)[e+2]
		right := multiplicands[T](b, c/2*8+column+c%2, a.depth)
		for k, v := range right[:a.depth] {
			x += a.upper[k] * v
			y += a.lower[k] * v
		}
		(*acc)[e], (*acc)[e+2] = x, y
	}
}

// multiplicands returns the first n elements of row or column i of an operand, converted as tensor
// cores do. Converting them once serves all products of the thread that use them.
func multiplicands[T Multiplicand, O Operand[T]](o O, i, n int) (x [stepBytes]float32) {
	for k := range n {
		x[k] = asFloat32(o.element(i, k))
	}
	return x
}

// asFloat32 returns the value that tensor cores use for x.
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

// truncated returns x with its mantissa truncated to the 10 bits of a TF32.
func truncated(x float32) float32 { return fromBits[float32](toBits(x) &^ 0x1fff) }

// FenceProducts orders the thread's accesses to accumulators and panels before the products that it
// starts next. Call it before the first product of each group.
func (t Thread) FenceProducts() {}

// CommitProducts forms a group of the products that the warp has started since its previous call of
// CommitProducts.
func (t Thread) CommitProducts() {}

// AwaitProducts waits until all but the n most recent groups of the warp's products are complete
// (see CommitProducts). n is a constant from 0 to 7. acc points to the accumulator of the completed
// products. If the products have several accumulators, call AwaitProducts for each accumulator.
func AwaitProducts[A Accumulator](t Thread, acc *A, n int) {
	t.block.Meet(t.linear(), simt.Products, 0, 0) // once one thread continues, the panels of all may change
}

// TakeRegisters raises the number of registers of each thread of the warp group to n, taking
// registers that other warp groups have released (PTX: setmaxnreg; only on compute capability 9.0).
// n is a constant multiple of 8 from 24 to 256. All threads of the warp group call TakeRegisters,
// which waits until enough registers are available. The kernel must have a fixed block size. At the
// start, each thread of the block has an equal share of 65536 registers, rounded down to a multiple
// of 8.
func (t Thread) TakeRegisters(n int) {}

// GiveRegisters releases all but n registers of each thread of the warp group. The requirements of
// TakeRegisters also apply to GiveRegisters.
func (t Thread) GiveRegisters(n int) {}
