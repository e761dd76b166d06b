package prim

import "github.com/gopherwarp/gopherwarp/gpu"

// The kernels of this file are for CPUs, on which barriers are a thousand times as expensive as the
// work between them. A block has one thread, which processes a chunk of the elements in order.

// chunk returns the range of the block's chunk of n elements.
func chunk(t gpu.Thread, n int) (from, to int) {
	b, blocks := t.BlockX(), t.GridDimX()
	return n/blocks*b + min(n%blocks, b), n/blocks*(b+1) + min(n%blocks, b+1)
}

// joinChunk reduces the chunk to one element of partial.
//
//gpu:kernel
//gpu:assume nothing
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

// scanChunk scans the chunk, starting from the block's element of start if start is not empty.
//
//gpu:kernel
//gpu:assume nothing
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

// digitChunk counts the keys of the chunk with each digit. counts has an element for each block in
// a row for each digit.
//
//gpu:kernel
//gpu:assume nothing
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

// moveChunk moves the chunk's keys and values. starts is indexed like the counts of digitChunk.
//
//gpu:kernel
//gpu:assume nothing
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

// flagChunk counts the flags of the chunk that are set.
//
//gpu:kernel
//gpu:assume nothing
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

// selectChunk is selectTiles for a chunk. starts[i] is the number of flags that are set before
// chunk i; the last element of starts is the total.
//
//gpu:kernel
//gpu:assume nothing
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
