package gpu

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// TensorMap is a matrix, or a stack of them, in global memory, of which bulk copies move parts: the
// kernel's side of a device.TensorMap. A kernel takes it as a parameter. Part says what one copy
// moves: a Panel[T] (its 64 rows of 128 bytes), an array of up to four of them, one below the other, or an
// array [rows][columns]T of numbers, whose rows lie one behind the other and have a multiple of
// 16 bytes.
type TensorMap[Part any] struct {
	_    [0]Part
	plan MapPlan
	_    [mapBytes - unsafe.Sizeof(MapPlan{})]byte
}

// mapBytes is the size of a tensor map on every device.
const mapBytes = 128

// MapPlan is what a tensor map says, as devices that are no GPU read it. Generated code and
// package device use it; kernels do not.
type MapPlan struct {
	Address unsafe.Pointer // of the first element
	Size    [3]int32       // elements along x, y and z
	Box     [2]int32       // elements along x and y that a copy moves
	Element int32          // bytes
	Panels  bool           // the tile is made of Panels
	Stride  [2]int64       // bytes from row to row, from layer to layer
}

// Corner is where a tile lies in a stack of matrices: the place of its first element. X times the size of an element is
// a multiple of 16 bytes, as bulk tensor copies want the innermost coordinate: a GPU takes another for an illegal instruction and the
// device is lost, so the thread faults. So it does where a coordinate is negative, which an H200 did not take in a store, or has
// more than 31 bits. A tile may stick out of the matrix, or lie outside of it.
type Corner struct{ X, Y, Z int }

// Fetch starts to copy the tile at column X, row Y and matrix Z of m to dst, in shared memory, and
// tells bar when its bytes have come (PTX: cp.async.bulk.tensor; from compute capability 9.0
// on). What lies outside of the matrix is zero. One thread calls it
// for all; bar expects the bytes by Expect. A thread that has waited for bar's phase sees the tile.
//
// dst is written past the thread's own accesses: what other threads read there before must
// be done, by a Sync or a Barrier, and what they wrote there must be followed by FenceAsync.
func (m TensorMap[Part]) Fetch(t Thread, dst *Part, at Corner, bar *Barrier) {
	m.plan.check(at)
	m.plan.each(at, unsafe.Pointer(dst), func(inside bool, tile, element unsafe.Pointer) {
		to := unsafe.Slice((*byte)(tile), m.plan.Element)
		if !inside {
			clear(to)
			return
		}
		copy(to, unsafe.Slice((*byte)(element), m.plan.Element))
	})
	t.block.Complete(&bar.word, int(unsafe.Sizeof(*dst)))
}

// Store starts to copy src, in shared memory, to the tile at column X, row Y and matrix Z of m;
// what lies outside of the matrix is left out. One thread calls it for all. Threads that wrote
// to src call FenceAsync before they tell that one. The copy belongs to the group that the thread's next
// CommitStores makes.
func (m TensorMap[Part]) Store(t Thread, at Corner, src *Part) {
	m.plan.check(at)
	m.plan.each(at, unsafe.Pointer(src), func(inside bool, tile, element unsafe.Pointer) {
		if inside {
			copy(unsafe.Slice((*byte)(element), m.plan.Element), unsafe.Slice((*byte)(tile), m.plan.Element))
		}
	})
}

// CommitStores makes a group of the tiles that the thread has begun to store since it last did.
func (t Thread) CommitStores() {}

// WaitStores waits until all the thread's groups of tiles are stored but the newest ones, of which it
// leaves the given number, a constant from 0 to 7.
func (t Thread) WaitStores(leave int) {}

// WaitSources is WaitStores, but waits only until the tiles in shared memory have been read, and may be overwritten.
func (t Thread) WaitSources(leave int) {}

// FenceAsync orders what the thread wrote to shared memory before what bulk copies and products of
// panels read there that start later, in any thread that meets this one in between (PTX: fence.proxy.async).
func (t Thread) FenceAsync() {}

// check panics where no copy can be.
func (p *MapPlan) check(at Corner) {
	if min(at.X, at.Y, at.Z) < 0 || max(at.X, at.Y, at.Z) > math.MaxInt32 || at.X*int(p.Element)%panelChunk != 0 {
		panic("gpu.TensorMap: a corner that is negative, or no multiple of 16 bytes along X")
	}
}

// each calls f for every element of a tile: where it lies in the tile and, if the matrix has it, there.
func (p *MapPlan) each(at Corner, tile unsafe.Pointer, f func(inside bool, tile, element unsafe.Pointer)) {
	size := int(p.Element)
	for i := range int(p.Box[1]) {
		for j := range int(p.Box[0]) {
			offset := (i*int(p.Box[0]) + j) * size
			if p.Panels {
				offset = i*panelWidth + panelOffset(i, j, size)
			}
			x, y, z := at.X+j, at.Y+i, at.Z
			inside := uint(x) < uint(p.Size[0]) && uint(y) < uint(p.Size[1]) && uint(z) < uint(p.Size[2])
			var element unsafe.Pointer
			if inside {
				element = unsafe.Add(p.Address, x*size+y*int(p.Stride[0])+z*int(p.Stride[1]))
			}
			f(inside, unsafe.Add(tile, offset), element)
		}
	}
}

// TileShape is what a copy by a TensorMap moves, as package device reads it off the type.
type TileShape struct {
	Box     [2]int // elements along x and y
	Element reflect.Type
	Panels  bool
}

// TileOf returns what a copy moves into a variable of type t, or why nothing can be moved there.
func TileOf(t reflect.Type) (TileShape, error) {
	if p, ok := reflect.Zero(reflect.PointerTo(t)).Interface().(interface{ element() reflect.Type }); ok {
		e := p.element()
		return TileShape{[2]int{panelWidth / int(e.Size()), PanelRows}, e, true}, nil
	}
	if t.Kind() != reflect.Array {
		return TileShape{}, fmt.Errorf("tile %v is neither a Panel nor an array", t)
	}
	inner, err := TileOf(t.Elem())
	if err != nil || !inner.Panels {
		inner = TileShape{[2]int{1, 1}, t.Elem(), false}
		if row := t.Elem(); row.Kind() == reflect.Array {
			inner = TileShape{[2]int{row.Len(), 1}, row.Elem(), false}
		}
	}
	inner.Box[1] *= t.Len()
	row := inner.Box[0] * int(inner.Element.Size())
	if inner.Box[0] > maxBox || inner.Box[1] > maxBox || t.Len() == 0 || row%panelChunk != 0 || row == 0 {
		return TileShape{}, fmt.Errorf("tile %v: %d rows of %d elements of %d bytes, possible are up to %d rows of up to %d, of a multiple of %d bytes",
			t, inner.Box[1], inner.Box[0], inner.Element.Size(), maxBox, maxBox, panelChunk)
	}
	return inner, nil
}

// maxBox is the most elements along an axis that one copy moves (CUDA driver API, cuTensorMapEncodeTiled).
const maxBox = 256

func (p *Panel[T]) element() reflect.Type { return reflect.TypeFor[T]() }
