package prim

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// Sort sorts x in place in ascending order. Floating-point numbers have the total order of IEEE
// 754: -0 is before 0, and NaNs are after all numbers, or before them if their sign bit is set.
func Sort[T Number](s *device.Stream, x device.Slice[T]) error {
	return sortKeys(s, false, x)
}

// SortDescending is like Sort in descending order.
func SortDescending[T Number](s *device.Stream, x device.Slice[T]) error {
	return sortKeys(s, true, x)
}

// SortPairs sorts keys in place as Sort does, and moves the elements of values, which has the same
// length, along with their keys. Values of equal keys keep their order. The size of a V must be 4
// or 8 bytes; otherwise the error matches errors.ErrUnsupported. To sort larger values, sort their
// indices.
func SortPairs[K Number, V any](s *device.Stream, keys device.Slice[K], values device.Slice[V]) error {
	return sortPairs(s, false, keys, values)
}

// SortPairsDescending is like SortPairs in descending order of the keys. Values of equal keys keep
// their order.
func SortPairsDescending[K Number, V any](s *device.Stream, keys device.Slice[K], values device.Slice[V]) error {
	return sortPairs(s, true, keys, values)
}

func sortKeys[T Number](s *device.Stream, descending bool, x device.Slice[T]) error {
	switch kind := kindOf[T](); kind {
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		keys := view[uint32](x)
		return sortBy(s, orderOf[uint32](kind, descending), pairs[uint32, none]{keys, view[none](keys.Slice(0, 0))})
	default:
		keys := view[uint64](x)
		return sortBy(s, orderOf[uint64](kind, descending), pairs[uint64, none]{keys, view[none](keys.Slice(0, 0))})
	}
}

func sortPairs[K Number, V any](s *device.Stream, descending bool, keys device.Slice[K], values device.Slice[V]) error {
	if keys.Len() != values.Len() {
		return refuse(s, "sort", fmt.Errorf("%d keys and %d values: %w", keys.Len(), values.Len(), device.ErrLength))
	}
	if device.Overlap(keys, values) {
		return refuse(s, "sort", device.ErrOverlap)
	}
	switch size := reflect.TypeFor[V]().Size(); size {
	case 4:
		return sortPairsBy(s, descending, keys, view[uint32](values))
	case 8:
		return sortPairsBy(s, descending, keys, view[uint64](values))
	default:
		return refuse(s, "sort", fmt.Errorf("values of %d bytes: %w", size, errors.ErrUnsupported))
	}
}

func sortPairsBy[K Number, V value](s *device.Stream, descending bool, keys device.Slice[K], values device.Slice[V]) error {
	switch kind := kindOf[K](); kind {
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return sortBy(s, orderOf[uint32](kind, descending), pairs[uint32, V]{view[uint32](keys), values})
	default:
		return sortBy(s, orderOf[uint64](kind, descending), pairs[uint64, V]{view[uint64](keys), values})
	}
}

// orderOf returns the sortOrder of keys of the given kind.
func orderOf[K key](kind reflect.Kind, descending bool) (o sortOrder[K]) {
	sign := K(1) << signBit[K]()
	switch kind {
	case reflect.Int32, reflect.Int64:
		o.Every = sign
	case reflect.Float32, reflect.Float64:
		o.Every, o.Negative = sign, sign-1
	}
	if descending {
		o.After = ^K(0)
	}
	return o
}

// pairs are keys and their values.
type pairs[K key, V value] struct {
	keys   device.Slice[K]
	values device.Slice[V]
}

func (p pairs[K, V]) part(from, to int) pairs[K, V] {
	if hasValues[V]() {
		p.values = p.values.Slice(from, to)
	}
	p.keys = p.keys.Slice(from, to)
	return p
}

// portion is the part of a pass that one launch moves.
type portion struct{ pass, number, from, to int }

func (p portion) tiles() int { return (p.to - p.from + sortTile - 1) / sortTile }

// portions returns the portions of all passes over n keys.
func portions[K key](n int) (all []portion) {
	for pass := range passes[K]() {
		for i := 0; i*sortPortion < n; i++ {
			all = append(all, portion{pass, i, i * sortPortion, min((i+1)*sortPortion, n)})
		}
	}
	return all
}

// sortPlaces is the temporary memory of a sort.
type sortPlaces[K key, V value] struct {
	other  pairs[K, V]
	starts device.Slice[uint64] // rows of one number per digit: for each pass one row per portion and one more
	states device.Slice[uint32] // the tickets of all portions, then the states of their tiles
	close  func() error
}

func newSortPlaces[K key, V value](s *device.Stream, n int, all []portion) (p sortPlaces[K, V], err error) {
	tiles := 0
	for _, at := range all {
		tiles += at.tiles()
	}
	keys, err := device.MakeDirty[K](s, n)
	values, errValues := device.MakeDirty[V](s, valuesOf[V](n))
	starts, errStarts := device.Make[uint64](s, (len(all)+passes[K]())*digits)
	states, errStates := device.Make[uint32](s, tickets(all)+tiles*digits)
	if err = errors.Join(err, errValues, errStarts, errStates); err != nil {
		return p, errors.Join(err, closeAll(keys, values, starts, states))
	}
	p = sortPlaces[K, V]{pairs[K, V]{keys.All(), values.All()}, starts.All(), states.All(), nil}
	p.close = func() error { return closeAll(keys, values, starts, states) }
	return p, nil
}

// valuesOf returns the number of values of n keys.
func valuesOf[V value](n int) int {
	if hasValues[V]() {
		return n
	}
	return 0
}

// tickets returns the number of words for tickets, which precede the states.
func tickets(all []portion) int { return (len(all) + 3) / 4 * 4 }

func sortBy[K key, V value](s *device.Stream, order sortOrder[K], x pairs[K, V]) error {
	n := x.keys.Len()
	if n == 0 {
		return idle(s)
	}
	if serial(s) {
		return sortSerially(s, order, x)
	}
	return sortInTiles(s, order, x)
}

func sortInTiles[K key, V value](s *device.Stream, order sortOrder[K], x pairs[K, V]) error {
	n := x.keys.Len()
	all := portions[K](n)
	places, err := newSortPlaces[K, V](s, n, all)
	if err != nil {
		return err
	}
	return errors.Join(enqueueSort(s, order, x, places), places.close())
}

// stepOf returns the step of a pass. The first pass transforms the keys, and the last one
// transforms them back.
func stepOf[K key](pass int, order sortOrder[K]) sortStep[K] {
	how := sortStep[K]{Shift: pass * digitBits}
	if pass == 0 {
		how.Turn = order
	}
	if pass == passes[K]()-1 {
		how.Back = order
	}
	return how
}

func enqueueSort[K key, V value](s *device.Stream, order sortOrder[K], x pairs[K, V], places sortPlaces[K, V]) error {
	n := x.keys.Len()
	all := portions[K](n)
	rows := len(all)/passes[K]() + 1
	row := func(pass, number int) device.Slice[uint64] {
		return places.starts.Slice((pass*rows+number)*digits, (pass*rows+number+1)*digits)
	}
	packs, rest := packed[[4]K](x.keys)
	blocks := min(packs.Len()/digits+1, s.Device().Info().Cores*8)
	if err := countEach(s, device.Blocks{X: blocks}, packs, rest, places.starts, rows, order); err != nil {
		return err
	}
	if err := startEach(s, device.Blocks{X: passes[K]()}, places.starts, rows); err != nil {
		return err
	}
	state := places.states.Slice(tickets(all), places.states.Len())
	for i, p := range all {
		in, out := x, places.other
		if p.pass%2 == 1 {
			in, out = out, in
		}
		in = in.part(p.from, p.to)
		words := p.tiles() * digits
		err := sortPass(s, device.Blocks{X: p.tiles()}, in.keys, out.keys, in.values, out.values, row(p.pass, p.number), row(p.pass, p.number+1), places.states.Slice(i, i+1), state.Slice(0, words), stepOf(p.pass, order))
		if err != nil {
			return err
		}
		state = state.Slice(words, state.Len())
	}
	return nil
}
