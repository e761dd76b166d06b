package prim

import "github.com/gopherwarp/gopherwarp/gpu"

// The kernels of this file are for CPUs, where threads that meet cost a thousand times what they do. A
// block has one thread and takes a chunk of the elements from its start to its end.

// chunk returns the block's part of n elements.
func chunk(t gpu.Thread, n int) (from, to int) {
	b, blocks := t.BlockX(), t.GridDimX()
	return n/blocks*b + min(n%blocks, b), n/blocks*(b+1) + min(n%blocks, b+1)
}

// joinChunk joins the chunk's elements.
//
//gpu:kernel
//gpu:block 1
//gpu:instance joinChunks = joinChunk[add|least|greatest, int32|int64|uint32|uint64|float32|float64]
func joinChunk[O operator, T number](t gpu.Thread, x, partial []T, nothing T) {
	from, to := chunk(t, len(x))
	r := nothing
	for _, v := range x[from:to] {
		r = join[T, O](r, v)
	}
	partial[t.BlockX()] = r
}

// scanChunk scans the chunk's elements, starting from the block's element of start, where it has one.
//
//gpu:kernel
//gpu:block 1
//gpu:instance scanChunks = scanChunk[add|least|greatest, int32|int64|uint32|uint64|float32|float64]
func scanChunk[O operator, T number](t gpu.Thread, in, out, start []T, exclusive bool, nothing T) {
	from, to := chunk(t, len(in))
	r := nothing
	if b := t.BlockX(); b < len(start) {
		r = start[b]
	}
	out = out[from:to]
	for i, v := range in[from:to] {
		next := join[T, O](r, v)
		if exclusive {
			out[i] = r
		} else {
			out[i] = next
		}
		r = next
	}
}

// digitChunk stores for each digit how many of the chunk's keys have it: counts has for each digit a number
// for each block.
//
//gpu:kernel
//gpu:block 1
//gpu:instance digitChunks = digitChunk[uint32|uint64]
func digitChunk[K key](t gpu.Thread, x []K, counts []uint64, how sortStep[K]) {
	from, to := chunk(t, len(x))
	var own [digits]uint64
	for _, k := range x[from:to] {
		own[how.Turn.turn(k)>>how.Shift%digits]++
	}
	for d, n := range own {
		counts[d*t.GridDimX()+t.BlockX()] = n
	}
}

// moveChunk moves the chunk's keys and values to where starts, which is like the counts of digitChunk, says.
//
//gpu:kernel
//gpu:block 1
//gpu:instance moveChunks = moveChunk[uint32|uint64, none|uint32|uint64]
func moveChunk[K key, V value](t gpu.Thread, in, out []K, fromValues, toValues []V, starts []uint64, how sortStep[K]) {
	from, to := chunk(t, len(in))
	var next [digits]uint64
	for d := range next {
		next[d] = starts[d*t.GridDimX()+t.BlockX()]
	}
	for i, k := range in[from:to] {
		k = how.Turn.turn(k)
		d := k >> how.Shift % digits
		place := next[d]
		next[d]++
		out[place] = how.Back.back(k)
		if hasValues[V]() {
			toValues[place] = fromValues[from+i]
		}
	}
}

// flagChunk stores how many of the chunk's flags are set.
//
//gpu:kernel
//gpu:block 1
//gpu:instance flagChunks = flagChunk[bool]
func flagChunk[F bool](t gpu.Thread, flags []F, counts []uint64) {
	from, to := chunk(t, len(flags))
	n := uint64(0)
	for _, set := range flags[from:to] {
		if bool(set) {
			n++
		}
	}
	counts[t.BlockX()] = n
}

// selectChunk does the chunk's part of what selectTiles does. starts has how many flags are set before each
// chunk; the last element is how many there are in all.
//
//gpu:kernel
//gpu:block 1
//gpu:instance selectChunks = selectChunk[uint8|uint16|uint32|uint64|[2]uint64]
func selectChunk[E element](t gpu.Thread, in, out []E, flags []bool, starts []uint64, count []int, all bool) {
	from, to := chunk(t, len(in))
	next, total := int(starts[t.BlockX()]), int(starts[len(starts)-1])
	other := total + from - next
	for i, v := range in[from:to] {
		switch {
		case flags[from+i]:
			if next < len(out) {
				out[next] = v
			}
			next++
		case all:
			out[other] = v
			other++
		}
	}
	if t.BlockX() == 0 {
		count[0] = total
	}
}
