package prim

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// Flags selects elements of a slice.
type Flags struct {
	Set   device.Slice[bool] // one flag for each element
	Count device.Slice[int]  // one element, which receives the number of flags that are set
}

// Select copies the elements of src whose flags in flags.Set are true to the start of dst, in their
// order. dst may have any length: elements that do not fit are counted but not copied. The size of
// a T must be 1, 2, 4, 8 or 16 bytes; otherwise the error matches errors.ErrUnsupported.
func Select[T any](s *device.Stream, dst, src device.Slice[T], flags Flags) error {
	return pick(s, picking{"select", flags, false}, dst, src)
}

// Partition is like Select, and then copies the other elements of src, in their order, to the rest
// of dst. dst has the length of src.
func Partition[T any](s *device.Stream, dst, src device.Slice[T], flags Flags) error {
	if dst.Len() != src.Len() {
		return refuse(s, "partition", fmt.Errorf("the source has %d elements and the destination %d: %w", src.Len(), dst.Len(), device.ErrLength))
	}
	return pick(s, picking{"partition", flags, true}, dst, src)
}

// picking describes a selection.
type picking struct {
	what string
	Flags
	all bool // also copy the elements whose flag is not set
}

func pick[T any](s *device.Stream, p picking, dst, src device.Slice[T]) error {
	switch {
	case p.Count.Len() != 1:
		return refuse(s, p.what, fmt.Errorf("the count has %d elements, want 1: %w", p.Count.Len(), device.ErrLength))
	case p.Set.Len() != src.Len():
		return refuse(s, p.what, fmt.Errorf("%d flags for %d elements: %w", p.Set.Len(), src.Len(), device.ErrLength))
	case device.Overlap(dst, src) || device.Overlap(dst, p.Set) || device.Overlap(p.Count, src) || device.Overlap(p.Count, dst) || device.Overlap(p.Count, p.Set):
		return refuse(s, p.what, device.ErrOverlap)
	}
	switch size := reflect.TypeFor[T]().Size(); size {
	case 1:
		return pickBy(s, p, between[uint8](dst, src))
	case 2:
		return pickBy(s, p, between[uint16](dst, src))
	case 4:
		return pickBy(s, p, between[uint32](dst, src))
	case 8:
		return pickBy(s, p, between[uint64](dst, src))
	case 16:
		return pickBy(s, p, between[[2]uint64](dst, src))
	default:
		return refuse(s, p.what, fmt.Errorf("elements of %d bytes: %w", size, errors.ErrUnsupported))
	}
}

func pickBy[E element](s *device.Stream, p picking, at ends[E]) error {
	if err := device.Fill(s, p.Count, 0); err != nil {
		return err
	}
	switch {
	case at.src.Len() == 0:
		return nil
	case serial(s):
		return selectSerially(s, p, at)
	}
	return selectInTiles(s, p, at)
}

func selectInTiles[E element](s *device.Stream, p picking, at ends[E]) error {
	tile := scanWidth * min(16, 64/int(reflect.TypeFor[E]().Size()))
	tiles := (at.src.Len() + tile - 1) / tile
	state, err := newTileStates(s, tiles, 1)
	if err != nil {
		return err
	}
	rest := p.Count.Slice(0, 0)
	if p.all {
		rest = p.Count
		packs, tail := packed[[16]bool](p.Set)
		err = flagsSet(s, device.Blocks{X: min(packs.Len()/reduceWidth+1, reduceGrid)}, packs, tail, p.Count)
	}
	if err == nil {
		flags, tail := packed[[4]bool](p.Set)
		grid := device.Blocks{X: tiles}
		switch at := any(at).(type) {
		case ends[uint8]:
			err = selectBytes(s, grid, at.src, at.dst, flags, tail, rest, p.Count, state.ticket, state.words)
		case ends[uint16]:
			err = selectHalves(s, grid, at.src, at.dst, flags, tail, rest, p.Count, state.ticket, state.words)
		case ends[uint32]:
			err = selectWords(s, grid, at.src, at.dst, flags, tail, rest, p.Count, state.ticket, state.words)
		case ends[uint64]:
			err = selectDoubles(s, grid, at.src, at.dst, flags, tail, rest, p.Count, state.ticket, state.words)
		case ends[[2]uint64]:
			err = selectQuads(s, grid, at.src, at.dst, flags, tail, rest, p.Count, state.ticket, state.words)
		}
	}
	return errors.Join(err, state.Close())
}
