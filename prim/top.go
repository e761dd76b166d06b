package prim

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// Top stores in dst the len(dst) greatest elements of src in the order of SortDescending, and in
// indices their positions in src. Equal elements are taken in the order of their positions. indices
// must have the length of dst, which must not exceed the length of src.
func Top[T Number](s *device.Stream, dst device.Slice[T], indices device.Slice[int], src device.Slice[T]) error {
	switch {
	case dst.Len() > src.Len() || indices.Len() != dst.Len():
		return refuse(s, "top", fmt.Errorf("%d elements and %d indices from a source of %d elements: %w", dst.Len(), indices.Len(), src.Len(), device.ErrLength))
	case device.Overlap(dst, src) || device.Overlap(indices, src) || device.Overlap(dst, indices):
		return refuse(s, "top", device.ErrOverlap)
	case dst.Len() == 0:
		return idle(s)
	}
	switch kind := kindOf[T](); kind {
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return topBy(s, orderOf[uint32](kind, false), between[uint32](dst, src), indices)
	default:
		return topBy(s, orderOf[uint64](kind, false), between[uint64](dst, src), indices)
	}
}

func topBy[K key](s *device.Stream, order sortOrder[K], at ends[K], indices device.Slice[int]) error {
	down := order
	down.After = ^K(0)
	if serial(s) {
		return topSerially(s, down, at, indices)
	}
	err := topInTiles(s, order, at, indices)
	return cmp.Or(err, sortBy(s, down, pairs[K, uint64]{at.dst, view[uint64](indices)}))
}

// topInTiles implements Top: it stores the elements greater than the last one, and then those equal
// to it in their order.
func topInTiles[K key](s *device.Stream, order sortOrder[K], at ends[K], indices device.Slice[int]) error {
	tiles := (at.src.Len() + topTile - 1) / topTile
	known, err := device.Make[uint64](s, topWords+passes[K]()*digits)
	above, errAbove := newTileStates(s, tiles, 1)
	equal, errEqual := newTileStates(s, tiles, 1)
	if err = errors.Join(err, errAbove, errEqual); err == nil {
		state := known.Slice(0, topWords)
		err = cmp.Or(
			device.Fill(s, state.Slice(topWanted, topWords), uint64(at.dst.Len())),
			findLast(s, order, at, known.All()),
			pickBest(s, device.Blocks{X: tiles}, at.src, at.dst, indices, state, above.ticket, above.words, order, false),
			pickBest(s, device.Blocks{X: tiles}, at.src, at.dst, indices, state, equal.ticket, equal.words, order, true))
	}
	return errors.Join(err, closeAll(known, above.Buffer, equal.Buffer))
}

// findLast finds the last key to store. known has its state, followed by the counts of each digit.
func findLast[K key](s *device.Stream, order sortOrder[K], at ends[K], known device.Slice[uint64]) error {
	state, counts := known.Slice(0, topWords), known.Slice(topWords, known.Len())
	g := device.Blocks{X: min((at.src.Len()+digits-1)/digits, reduceGrid)}
	for pass := passes[K]() - 1; pass >= 0; pass-- {
		row := counts.Slice(pass*digits, (pass+1)*digits)
		how := sortStep[K]{Shift: pass * digitBits, Turn: order}
		if err := cmp.Or(countNext(s, g, at.src, row, state, how), chooseNext(s, device.Blocks{X: 1}, row, state, how.Shift)); err != nil {
			return err
		}
	}
	return nil
}
