package prim

import "github.com/gopherwarp/gopherwarp/gpu"

const (
	countWidth = 256  // threads in a block
	ownBins    = 4096 // maximum number of counters in shared memory
)

// bins are a block's counters: in shared memory, or the global ones if there are too many.
type bins struct {
	own *[ownBins]uint32
	all []uint64
}

func (b bins) few() bool { return len(b.all) <= ownBins }

func (b bins) clear(t gpu.Thread) {
	for i := t.ThreadX(); i < len(b.own); i += countWidth {
		b.own[i] = 0
	}
	t.Sync()
}

// add increments the counter of bin i, which is less than len(b.all).
func (b bins) add(i int) {
	if b.few() {
		gpu.AtomicAdd(&b.own[i], 1, gpu.BlockScope)
	} else {
		gpu.AtomicAdd(&b.all[i], 1)
	}
}

// flush adds the block's counters to the global ones.
func (b bins) flush(t gpu.Thread) {
	t.Sync()
	if !b.few() {
		return
	}
	for i := t.ThreadX(); i < len(b.all); i += countWidth {
		if n := b.own[i]; n != 0 {
			gpu.AtomicAdd(&b.all[i], uint64(n))
		}
	}
}

// bitsOf lists the types that represent all integers of their size.
type bitsOf interface {
	uint8 | uint16 | uint32 | uint64
}

// bytes16 is the constraint of arrays of 16 bytes.
type bytes16[E bitsOf] interface {
	[16]E | [8]E | [4]E | [2]E
}

// countValues adds to counts[i] the number of elements of x and tail that equal low+i.
//
//gpu:kernel
//gpu:block 256
//gpu:instance countUint8 = countValues[uint8, [16]uint8]
//gpu:instance countUint16 = countValues[uint16, [8]uint16]
//gpu:instance countUint32 = countValues[uint32, [4]uint32]
//gpu:instance countUint64 = countValues[uint64, [2]uint64]
func countValues[E bitsOf, A bytes16[E]](t gpu.Thread, x []A, tail []E, low E, counts []uint64) {
	b := bins{gpu.Shared[[ownBins]uint32](t), counts}
	b.clear(t)
	add := func(v E) {
		if at := uint64(v - low); at < uint64(len(counts)) {
			b.add(int(at))
		}
	}
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * countWidth {
		v := x[i]
		for j := range len(v) {
			add(v[j])
		}
	}
	if i := t.GlobalX(); i < len(tail) {
		add(tail[i])
	}
	b.flush(t)
}

// span is an Interval with the width of its bins.
type span[F float32 | float64] struct{ Low, High, PerBin F }

// countFloats adds to counts[i] the number of elements of x and tail in bin i.
//
//gpu:kernel
//gpu:block 256
//gpu:instance countFloat32 = countFloats[float32, [4]float32]
//gpu:instance countFloat64 = countFloats[float64, [2]float64]
func countFloats[F float32 | float64, A [4]F | [2]F](t gpu.Thread, x []A, tail []F, s span[F], counts []uint64) {
	b := bins{gpu.Shared[[ownBins]uint32](t), counts}
	b.clear(t)
	add := func(v F) {
		if s.Low <= v && v < s.High {
			b.add(min(int((v-s.Low)/s.PerBin), len(counts)-1)) // rounding may give len(counts)
		}
	}
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * countWidth {
		v := x[i]
		for j := range len(v) {
			add(v[j])
		}
	}
	if i := t.GlobalX(); i < len(tail) {
		add(tail[i])
	}
	b.flush(t)
}
