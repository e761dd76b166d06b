package prim

import (
	"cmp"
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
)

// serial reports whether the stream's device runs the threads of a block one after another.
func serial(s *device.Stream) bool { return s.Device().Info().Kind == "cpu" }

// chunks returns the number of chunks into which to divide n elements: a few for each core.
func chunks(s *device.Stream, n int) int {
	const least = 1 << 12 // the smallest chunk that is worth a block
	return max(1, min(n/least, 4*s.Device().Info().Cores))
}

func reduceSerially[T number](s *device.Stream, op Op, at ends[T]) error {
	switch nothing := neutral[T](op); op {
	case Add:
		return reduceChunks[add](s, at, nothing)
	case Min:
		return reduceChunks[least](s, at, nothing)
	default:
		return reduceChunks[greatest](s, at, nothing)
	}
}

func scanSerially[T number](s *device.Stream, how scanning, at ends[T]) error {
	switch nothing := neutral[T](how.op); how.op {
	case Add:
		return scanInChunks[add](s, at, how.exclusive, nothing)
	case Min:
		return scanInChunks[least](s, at, how.exclusive, nothing)
	default:
		return scanInChunks[greatest](s, at, how.exclusive, nothing)
	}
}

func reduceChunks[O operator, T number](s *device.Stream, at ends[T], nothing T) error {
	n := chunks(s, at.src.Len())
	partial, err := device.MakeDirty[T](s, n)
	if err != nil {
		return err
	}
	err = cmp.Or(
		joinChunks[O](s, device.Blocks{X: n}, at.src, partial.All(), nothing),
		joinChunks[O](s, device.Blocks{X: 1}, partial.All(), at.dst, nothing))
	return errors.Join(err, partial.Close())
}

func scanInChunks[O operator, T number](s *device.Stream, at ends[T], exclusive bool, nothing T) error {
	n := chunks(s, at.src.Len())
	partial, err := device.MakeDirty[T](s, n)
	if err != nil {
		return err
	}
	start, none := partial.All(), partial.Slice(0, 0)
	err = cmp.Or(
		joinChunks[O](s, device.Blocks{X: n}, at.src, start, nothing),
		scanChunks[O](s, device.Blocks{X: 1}, start, start, none, true, nothing),
		scanChunks[O](s, device.Blocks{X: n}, at.src, at.dst, start, exclusive, nothing))
	return errors.Join(err, partial.Close())
}

func sortSerially[K key, V value](s *device.Stream, order sortOrder[K], x pairs[K, V]) error {
	n := x.keys.Len()
	g := device.Blocks{X: chunks(s, n)}
	keys, err := device.MakeDirty[K](s, n)
	values, errValues := device.MakeDirty[V](s, valuesOf[V](n))
	counts, errCounts := device.MakeDirty[uint64](s, g.X*digits)
	err = errors.Join(err, errValues, errCounts)
	other, all := pairs[K, V]{keys.All(), values.All()}, counts.All()
	for pass := 0; pass < passes[K]() && err == nil; pass++ {
		how := stepOf(pass, order)
		err = cmp.Or(
			digitChunks(s, g, x.keys, all, how),
			scanChunks[add](s, device.Blocks{X: 1}, all, all, all.Slice(0, 0), true, 0),
			moveChunks(s, g, x.keys, other.keys, x.values, other.values, all, how))
		x, other = other, x
	}
	return errors.Join(err, closeAll(keys, values, counts))
}

func selectSerially[E element](s *device.Stream, p picking, at ends[E]) error {
	n := chunks(s, at.src.Len())
	counts, err := device.Make[uint64](s, n+1)
	if err != nil {
		return err
	}
	all := counts.All()
	err = cmp.Or(
		flagChunks(s, device.Blocks{X: n}, p.Set, all.Slice(0, n)),
		scanChunks[add](s, device.Blocks{X: 1}, all, all, all.Slice(0, 0), true, 0),
		selectChunks(s, device.Blocks{X: n}, at.src, at.dst, p.Set, all, p.Count, p.all))
	return errors.Join(err, counts.Close())
}

// topSerially sorts all elements.
func topSerially[K key](s *device.Stream, order sortOrder[K], at ends[K], indices device.Slice[int]) error {
	n, k := at.src.Len(), at.dst.Len()
	keys, err := device.MakeDirty[K](s, n)
	values, errValues := device.MakeDirty[uint64](s, n)
	if err = errors.Join(err, errValues); err == nil {
		places := values.All()
		err = cmp.Or(
			device.Copy(s, keys.All(), at.src),
			device.Fill(s, places, 1),
			scanInChunks[add](s, ends[uint64]{places, places}, true, 0),
			sortBy(s, order, pairs[K, uint64]{keys.All(), places}),
			device.Copy(s, at.dst, keys.Slice(0, k)),
			device.Copy(s, view[uint64](indices), values.Slice(0, k)))
	}
	return errors.Join(err, closeAll(keys, values))
}
