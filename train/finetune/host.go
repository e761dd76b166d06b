package finetune

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/rendezvous"
)

// The kinds of data that processes exchange: the first byte.
const (
	kindNews    = 'n'
	kindSingles = 'f'
	kindBrains  = 'b'
	kindParts   = 'p' // of which each process gets all, one after another
)

// host has the conversions of derivatives for a sum on the host.
type host[T any] struct {
	kind   byte
	size   int // of an element in bytes
	wide   func(T) float32
	narrow func(float32) T
	get    func(data []byte) T
	put    func(data []byte, v T) []byte
}

// brains returns the conversions of bfloat16.
func brains() host[dtype.BF16] {
	return host[dtype.BF16]{
		kindBrains, 2, dtype.BF16.Float32, dtype.BF16From32,
		func(data []byte) dtype.BF16 { return dtype.BF16(binary.LittleEndian.Uint16(data)) },
		func(data []byte, v dtype.BF16) []byte { return binary.LittleEndian.AppendUint16(data, uint16(v)) },
	}
}

// singles returns those of float32.
func singles() host[float32] {
	return host[float32]{
		kindSingles, 4, func(v float32) float32 { return v }, func(v float32) float32 { return v },
		func(data []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(data)) },
		func(data []byte, v float32) []byte {
			return binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		},
	}
}

// sum returns the sums of the elements of lists with the same index, in the memory of the first list.
func (h host[T]) sum(lists [][]T) []T {
	to := lists[0]
	for i := range to {
		v := h.wide(to[i])
		for _, list := range lists[1:] {
			v += h.wide(list[i])
		}
		to[i] = h.narrow(v)
	}
	return to
}

// share replaces the elements of a list by the sum of those of all processes, in the order of the ranks.
func (h host[T]) share(ctx context.Context, g *team, list []T) error {
	most := (rendezvous.MaxExchange - 1) / h.size
	for part := range slices.Chunk(list, most) {
		data := append(make([]byte, 0, 1+len(part)*h.size), h.kind)
		for _, v := range part {
			data = h.put(data, v)
		}
		sum, err := g.exchange(ctx, data)
		if err != nil {
			return err
		}
		if len(sum) != len(part)*h.size {
			return fmt.Errorf("%w: a sum of %d bytes, not %d", ErrRank, len(sum), len(part)*h.size)
		}
		for i := range part {
			part[i] = h.get(sum[i*h.size:])
		}
	}
	return nil
}

// combine returns what the processes get for what they exchange, or nil if they do not exchange the same.
func combine(blocks [][]byte) []byte {
	for _, b := range blocks {
		if len(b) == 0 || b[0] != blocks[0][0] {
			return nil
		}
	}
	switch blocks[0][0] {
	case kindSingles:
		return singles().combine(blocks)
	case kindBrains:
		return brains().combine(blocks)
	case kindParts:
		all := []byte{} // not nil, which means that the processes do not exchange the same
		for _, b := range blocks {
			all = append(all, b[1:]...)
		}
		return all
	}
	all := []byte{'['}
	for rank, b := range blocks {
		if rank > 0 {
			all = append(all, ',')
		}
		all = append(all, b[1:]...)
	}
	return append(all, ']')
}

// combine returns the sums of blocks with the kind and elements.
func (h host[T]) combine(blocks [][]byte) []byte {
	lists := make([][]T, len(blocks))
	for rank, b := range blocks {
		if len(b) != len(blocks[0]) {
			return nil
		}
		for at := 1; at+h.size <= len(b); at += h.size {
			lists[rank] = append(lists[rank], h.get(b[at:]))
		}
	}
	var data []byte
	for _, v := range h.sum(lists) {
		data = h.put(data, v)
	}
	return data
}
