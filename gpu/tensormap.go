package gpu

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// TensorMap describes a matrix, or a stack of matrices, in global memory, for bulk copies of tiles.
// It is the kernel's view of a device.TensorMap, and is a parameter of the kernel. Part is the type
// of the tile that one copy transfers: a Panel[T], with 64 rows of 128 bytes; an array of up to
// four panels, stacked vertically; or an array [rows][columns]T of numbers, whose rows are
// contiguous and have a multiple of 16 bytes.
type TensorMap[Part any] struct {
	_    [0]Part
	plan MapPlan
	_    [mapBytes - unsafe.Sizeof(MapPlan{})]byte
}

// mapBytes is the size in bytes of a tensor map on every device.
const mapBytes = 128

// MapPlan is the content of a tensor map on devices that are not GPUs. Generated code and package
// device use MapPlan; kernels do not.
type MapPlan struct {
	Address unsafe.Pointer // of the first element
	Size    [3]int32       // elements along x, y and z
	Box     [2]int32       // elements along x and y in one copy
	Element int32          // bytes per element
	Panels  bool           // whether the tile consists of Panels
	Stride  [2]int64       // bytes from row to row and from matrix to matrix
}

// Corner is the position of a tile's first element in a stack of matrices. A tile may extend beyond
// the matrix or lie outside the matrix.
//
// X times the size of an element must be a multiple of 16 bytes. Coordinates must be at least 0 and
// less than 2^31. Otherwise the thread faults.
type Corner struct{ X, Y, Z int }

// Fetch starts to copy a tile of m to *dst, in shared memory (PTX: cp.async.bulk.tensor; requires
// compute capability 9.0). The tile starts at column corner.X and row corner.Y of matrix corner.Z.
// Elements outside the matrix are zero. One thread calls Fetch. When the copy completes, its bytes
// arrive at bar, which must expect them (Barrier.Expect). A thread sees the tile after it has
// waited for the phase of bar in which the bytes arrive.
//
// The copy does not wait for earlier accesses to *dst. So threads that have accessed *dst must
// first synchronize with the calling thread, through Sync or a Barrier. If they have written to
// *dst, they must call FenceAsync before they synchronize.
func (m TensorMap[Part]) Fetch(t Thread, dst *Part, corner Corner, bar *Barrier) {
	m.plan.check(corner)
	m.plan.each(corner, unsafe.Pointer(dst), func(inside bool, tile, element unsafe.Pointer) {
		to := unsafe.Slice((*byte)(tile), m.plan.Element)
		if !inside {
			clear(to)
			return
		}
		copy(to, unsafe.Slice((*byte)(element), m.plan.Element))
	})
	t.block.Complete(&bar.word, int(unsafe.Sizeof(*dst)))
}

// Multicast is like Fetch, but copies the tile to all blocks of the cluster at once (PTX:
// .multicast::cluster). Each block receives the tile in its counterpart of *dst, and the bytes
// arrive at its counterpart of bar (see Peer). The matrix is read only once.
//
// The barriers of all blocks must be initialized first: call SyncCluster between Init and
// Multicast. A block must not end before the tiles that other blocks copy to it have arrived.
func (m TensorMap[Part]) Multicast(t Thread, dst *Part, corner Corner, bar *Barrier) {
	for rank := range t.ClusterSize() {
		m.Fetch(t, Peer(t, dst, rank), corner, Peer(t, bar, rank))
	}
}

// Store starts to copy *src, in shared memory, to a tile of m. The tile starts at column corner.X
// and row corner.Y of matrix corner.Z. Elements outside the matrix are not stored. One thread calls
// Store. Threads that have written to *src must call FenceAsync before they synchronize with the
// thread that calls Store. To wait for the copy, call CommitStores and then WaitStores.
func (m TensorMap[Part]) Store(t Thread, corner Corner, src *Part) {
	m.plan.check(corner)
	m.plan.each(corner, unsafe.Pointer(src), func(inside bool, tile, element unsafe.Pointer) {
		if inside {
			copy(unsafe.Slice((*byte)(element), m.plan.Element), unsafe.Slice((*byte)(tile), m.plan.Element))
		}
	})
}

// CommitStores forms a group of the stores that the thread has started since its previous call of
// CommitStores.
func (t Thread) CommitStores() {}

// WaitStores waits until all but the n most recent groups of the thread's stores are complete (see
// CommitStores). n is a constant from 0 to 7.
func (t Thread) WaitStores(n int) {}

// WaitSources is like WaitStores, but waits only until the sources in shared memory have been read
// and may be overwritten.
func (t Thread) WaitSources(n int) {}

// FenceAsync orders the thread's writes to shared memory before later bulk copies and products of
// panels (PTX: fence.proxy.async). Another thread may start the copy or product if it first
// synchronizes with the calling thread.
func (t Thread) FenceAsync() {}

// check panics if the hardware cannot copy a tile at the given corner.
func (p *MapPlan) check(at Corner) {
	if min(at.X, at.Y, at.Z) < 0 || max(at.X, at.Y, at.Z) > math.MaxInt32 || at.X*int(p.Element)%panelChunk != 0 {
		panic("gpu.TensorMap: corner is negative or not a multiple of 16 bytes along X")
	}
}

// each calls f for each element of a tile with the element's address in the tile and, if it is
// inside the matrix, its address there.
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

// TileShape describes the tiles that a TensorMap copies.
type TileShape struct {
	Box     [2]int // elements along x and y
	Element reflect.Type
	Panels  bool
}

// TileOf returns the shape of a tile of type t, or an error if a TensorMap cannot copy tiles of
// type t.
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
		return TileShape{}, fmt.Errorf("tile %v has %d rows of %d elements of %d bytes; at most %d rows of %d elements are possible, and a row must be a multiple of %d bytes",
			t, inner.Box[1], inner.Box[0], inner.Element.Size(), maxBox, maxBox, panelChunk)
	}
	return inner, nil
}

// maxBox is the maximum number of elements along an axis in one copy (CUDA driver API,
// cuTensorMapEncodeTiled).
const maxBox = 256

func (p *Panel[T]) element() reflect.Type { return reflect.TypeFor[T]() }
