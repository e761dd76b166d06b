package prim

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// InclusiveScan stores in dst[i] the reduction of src[0] to src[i] with op: for Add, the running sums. dst
// has the length of src, and may be the same slice as src. Floating-point sums may differ in their last bits
// between runs, because the sums of parts of src are combined in the order in which they complete.
func InclusiveScan[T Number](s *device.Stream, op Op, dst, src device.Slice[T]) error {
	return scan(s, scanning{op, false}, dst, src)
}

// ExclusiveScan is like InclusiveScan, but stores in dst[i] the reduction of the elements before
// src[i]. dst[0] is the reduction of no elements, as defined by Reduce.
func ExclusiveScan[T Number](s *device.Stream, op Op, dst, src device.Slice[T]) error {
	return scan(s, scanning{op, true}, dst, src)
}

// scanning describes a scan.
type scanning struct {
	op        Op
	exclusive bool
}

func scan[T Number](s *device.Stream, how scanning, dst, src device.Slice[T]) error {
	if err := how.op.check(); err != nil {
		return refuse(s, "scan", err)
	}
	if dst.Len() != src.Len() {
		return refuse(s, "scan", fmt.Errorf("the source has %d elements and the destination %d: %w", src.Len(), dst.Len(), device.ErrLength))
	}
	if dst != src && device.Overlap(dst, src) {
		return refuse(s, "scan", device.ErrOverlap)
	}
	switch kindOf[T]() {
	case reflect.Int32:
		return scanBy(s, scans[int32, [4]int32]{[...]scanLauncher[int32, [4]int32]{scanInt32[add], scanInt32[least], scanInt32[greatest]}, largeInt32}, how, between[int32](dst, src))
	case reflect.Int64:
		return scanBy(s, scans[int64, [2]int64]{[...]scanLauncher[int64, [2]int64]{scanInt64[add], scanInt64[least], scanInt64[greatest]}, largeInt64}, how, between[int64](dst, src))
	case reflect.Uint32:
		return scanBy(s, scans[uint32, [4]uint32]{[...]scanLauncher[uint32, [4]uint32]{scanUint32[add], scanUint32[least], scanUint32[greatest]}, largeUint32}, how, between[uint32](dst, src))
	case reflect.Uint64:
		return scanBy(s, scans[uint64, [2]uint64]{[...]scanLauncher[uint64, [2]uint64]{scanUint64[add], scanUint64[least], scanUint64[greatest]}, largeUint64}, how, between[uint64](dst, src))
	case reflect.Float32:
		return scanBy(s, scans[float32, [4]float32]{[...]scanLauncher[float32, [4]float32]{scanFloat32[add], scanFloat32[least], scanFloat32[greatest]}, largeFloat32}, how, between[float32](dst, src))
	default:
		return scanBy(s, scans[float64, [2]float64]{[...]scanLauncher[float64, [2]float64]{scanFloat64[add], scanFloat64[least], scanFloat64[greatest]}, largeFloat64}, how, between[float64](dst, src))
	}
}

// scanLauncher launches scanTiles or scanLarge.
type scanLauncher[T number, A pack[T]] func(s *device.Stream, g device.Blocks, in, out device.Slice[A], restIn, restOut device.Slice[T], ticket device.Slice[uint32], state device.Slice[uint64], exclusive bool, nothing T) error

// scans lists the launchers of a type.
type scans[T number, A pack[T]] struct {
	by  [Max + 1]scanLauncher[T, A] // indexed by Op
	sum scanLauncher[T, A]          // of scanLarge, which only adds
}

func scanBy[T number, A pack[T]](s *device.Stream, launch scans[T, A], how scanning, at ends[T]) error {
	if at.src.Len() == 0 {
		return idle(s)
	}
	if serial(s) {
		return scanSerially(s, how, at)
	}
	if how.op == Add && isLarge(s, at) {
		return scanInTiles(s, tiling[T, A]{launch.sum, largeSpan}, how, at)
	}
	return scanInTiles(s, tiling[T, A]{launch.by[how.op], scanSpan}, how, at)
}

// isLarge reports whether scanLarge may scan the elements and is faster: a multiprocessor has room for three of its tiles, and all
// multiprocessors get one.
func isLarge[T number](s *device.Stream, at ends[T]) bool {
	const packBytes, most = 16, 1 << 30 // elements of a launch that assumes that their number fits in an int32
	i, n := s.Device().Info(), at.src.Len()
	bytes := n * 4
	if isWide[T]() {
		bytes = n * 8
	}
	return largeResident*(largeSpan+scanWarps)*packBytes <= i.Limits.SharedDynamic && n <= most && bytes >= i.Cores*largeSpan*packBytes &&
		at.src.Aligned(packBytes) && at.dst.Aligned(packBytes)
}

// tiling is a kernel, and how many packs its tiles have.
type tiling[T number, A pack[T]] struct {
	launch scanLauncher[T, A]
	span   int
}

func scanInTiles[T number, A pack[T]](s *device.Stream, by tiling[T, A], how scanning, at ends[T]) error {
	in, restIn := packed[A](at.src)
	out, restOut := packed[A](at.dst)
	tiles := (in.Len() + min(restIn.Len(), 1) + by.span - 1) / by.span
	state, err := newTileStates(s, tiles, wordsOf[T]())
	if err != nil {
		return err
	}
	err = by.launch(s, device.Blocks{X: tiles}, in, out, restIn, restOut, state.ticket, state.words, how.exclusive, neutral[T](how.op))
	return errors.Join(err, state.Close())
}

// tileStates is the memory of a tileState and of the counter that assigns tiles to blocks.
type tileStates struct {
	*device.Buffer[uint64]
	words  device.Slice[uint64]
	ticket device.Slice[uint32]
}

// newTileStates allocates the states of the given number of tiles with the given number of words
// each.
func newTileStates(s *device.Stream, tiles, words int) (tileStates, error) {
	n := (tiles*words + 1) / 2 * 2 // makes all slices start at multiples of 16 bytes
	b, err := device.Make[uint64](s, n+1)
	if err != nil {
		return tileStates{}, err
	}
	return tileStates{b, b.Slice(0, n), device.View[uint32](b.Slice(n, n+1))}, nil
}

// wordsOf returns the number of words of a tile's state for a T.
func wordsOf[T number]() int {
	if isWide[T]() {
		return 2
	}
	return 1
}
