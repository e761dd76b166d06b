package gpu

import (
	"math/bits"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Half is the constraint of the 16-bit floating-point types that tensor cores multiply.
type Half interface{ dtype.F16 | dtype.BF16 }

// Tile is a thread's part of a matrix of 8x8 elements that a warp holds. The thread at lane l holds
// two elements of row l/4: the element at column 2*(l%4), in the lower 16 bits, and the element at
// column 2*(l%4)+1, in the upper 16 bits.
//
// Larger matrices consist of several tiles. All 32 threads of a warp must call the functions on
// tiles together, so no thread of the warp may exit before such a call.
type Tile[T Half] uint32

// MMA multiplies matrices on the tensor cores and returns a*b + c, where c and the result are in
// float32 (PTX: mma.m16n8k16; requires compute capability 8.0).
//
// a has 16 rows and 16 columns, in four tiles: upper left, lower left, upper right, lower right. b
// has 16 rows and 8 columns, in two tiles, upper and lower, each transposed: the thread at lane l
// holds rows 2*(l%4) and 2*(l%4)+1 of column l/4. c has 16 rows and 8 columns: c[0] and c[1] are in
// row l/4 at columns 2*(l%4) and 2*(l%4)+1, and c[2] and c[3] are at the same columns of row l/4 +
// 8.
//
// On the CPU, the products are added to c one after another in float32, in the order of a's
// columns. Tensor cores add the products in an unspecified order and with fewer roundings. So the
// results of the CPU and of a GPU differ by at most 2^-20 times the sum of the magnitudes of the
// terms.
func MMA[T Half](t Thread, a [4]Tile[T], b [2]Tile[T], c [4]float32) [4]float32 {
	left := gather(t, simt.Multiply, pair(a[0], a[1]))
	right := gather(t, simt.Multiply, pair(a[2], a[3]))
	column := gather(t, simt.Multiply, pair(b[0], b[1]))
	group, first := t.Lane()/4, 2*(t.Lane()%4)
	for k := range 16 {
		a, at := left, k%8/2
		if k >= 8 {
			a = right
		}
		var x, y [2]float32 // column k of a in the thread's two rows, and row k of b in its two columns
		for i := range x {
			x[i] = toFloat32[T](a[group*4+at] >> (i*32 + k%2*16)) // from the lane that holds it
			y[i] = toFloat32[T](column[(first+i)*4+at] >> (k/8*32 + k%2*16))
		}
		for i := range c {
			c[i] += x[i/2] * y[i%2]
		}
	}
	return c
}

func pair[T Half](low, high Tile[T]) uint64 { return uint64(high)<<32 | uint64(low) }

// toFloat32 returns the element in the lowest 16 bits.
func toFloat32[T Half](x uint64) float32 {
	switch h := any(T(x)).(type) {
	case dtype.F16:
		return h.Float32()
	case dtype.BF16:
		return h.Float32()
	}
	panic("BUG: gpu: a half of no type")
}

// gather waits for all 32 threads of the warp and returns their values of v by lane.
func gather(t Thread, k simt.Kind, v uint64) [WarpSize]uint64 {
	m := t.block.Meet(t.linear(), k, allLanes, v)
	if m.Lanes != allLanes {
		panic("not all threads of the warp are present for " + k.String())
	}
	return m.Values
}

// LoadMatrix loads a tile from shared memory (PTX: ldmatrix; requires compute capability 7.5). The
// threads at lanes 0 to 7 pass the addresses of the tile's rows, which have 16 bytes each; the
// addresses of the other threads are not used. A thread faults if its address is not a multiple of
// 16.
func LoadMatrix[T Half](t Thread, row *[8]T) Tile[T] { return loadMatrix(t, row, false)[0] }

// LoadMatrix2 is like LoadMatrix for two tiles. Lanes 0 to 7 pass the rows of the first tile, and
// lanes 8 to 15 pass the rows of the second tile.
func LoadMatrix2[T Half](t Thread, row *[8]T) [2]Tile[T] {
	m := loadMatrix(t, row, false)
	return [2]Tile[T](m[:])
}

// LoadMatrix4 is like LoadMatrix for four tiles. Lanes 0 to 7 pass the rows of the first tile,
// lanes 8 to 15 pass the rows of the second tile, and so on.
func LoadMatrix4[T Half](t Thread, row *[8]T) [4]Tile[T] { return loadMatrix(t, row, false) }

// LoadTransposed is like LoadMatrix, and transposes the tile.
func LoadTransposed[T Half](t Thread, row *[8]T) Tile[T] { return loadMatrix(t, row, true)[0] }

// LoadTransposed2 is like LoadMatrix2, and transposes each tile.
func LoadTransposed2[T Half](t Thread, row *[8]T) [2]Tile[T] {
	m := loadMatrix(t, row, true)
	return [2]Tile[T](m[:])
}

// LoadTransposed4 is like LoadMatrix4, and transposes each tile.
func LoadTransposed4[T Half](t Thread, row *[8]T) [4]Tile[T] { return loadMatrix(t, row, true) }

// loadMatrix gathers the rows of all threads and extracts the thread's elements of each tile.
func loadMatrix[T Half](t Thread, row *[8]T, transposed bool) (tiles [4]Tile[T]) {
	checkAligned("LoadMatrix", unsafe.Pointer(row), unsafe.Sizeof(*row))
	words := (*[2]uint64)(unsafe.Pointer(row))
	halves := [2][WarpSize]uint64{gather(t, simt.LoadRows, words[0]), gather(t, simt.LoadRows, words[1])}
	at := func(tile, row, col int) uint32 {
		return uint32(halves[col/4][tile*8+row]>>(col%4*16)) & 0xffff
	}
	row0, col0 := t.Lane()/4, 2*(t.Lane()%4)
	for i := range tiles {
		if transposed {
			tiles[i] = Tile[T](at(i, col0, row0) | at(i, col0+1, row0)<<16)
		} else {
			tiles[i] = Tile[T](at(i, row0, col0) | at(i, row0, col0+1)<<16)
		}
	}
	return tiles
}

// checkAligned panics if p is not a multiple of size, a power of two.
func checkAligned(name string, p unsafe.Pointer, size uintptr) {
	if bits.TrailingZeros64(uint64(uintptr(p))) < bits.TrailingZeros64(uint64(size)) {
		panic("gpu." + name + ": address is not a multiple of the size")
	}
}

// StoreMatrix4 stores four tiles to shared memory (PTX: stmatrix; requires compute capability 9.0).
// With the same rows, it is the inverse of LoadMatrix4.
func StoreMatrix4[T Half](t Thread, row *[8]T, tiles [4]Tile[T]) {
	checkAligned("StoreMatrix4", unsafe.Pointer(row), unsafe.Sizeof(*row))
	var brought [4][WarpSize]uint64
	for i, tile := range tiles {
		brought[i] = gather(t, simt.StoreRows, uint64(tile))
	}
	lane := t.Lane()
	for col := range row {
		pair := brought[lane/8][lane%8*4+col/2]
		row[col] = T(pair >> (col % 2 * 16))
	}
}

// EightAt returns the address of eight consecutive elements in a row of a panel. The column of the
// first element must be a multiple of eight; otherwise the thread faults.
func EightAt[T Half](p *Panel[T], row, column int) *[8]T {
	if column%8 != 0 {
		panic("gpu.EightAt: column is not a multiple of 8")
	}
	return (*[8]T)(unsafe.Pointer(p.At(row, column)))
}
