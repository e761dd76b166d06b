package prim

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// InclusiveScan stores in dst[i] the reduction of src[0] to src[i] with op: for Add, the running sums. dst
// has the length of src, and may be the same slice as src. Floating-point sums may differ in their last bits
// between runs, because tiles are combined in the order in which they complete.
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
		return scanBy(s, scans[int32, [4]int32]{scanInt32[add], scanInt32[least], scanInt32[greatest]}, how, between[int32](dst, src))
	case reflect.Int64:
		return scanBy(s, scans[int64, [2]int64]{scanInt64[add], scanInt64[least], scanInt64[greatest]}, how, between[int64](dst, src))
	case reflect.Uint32:
		return scanBy(s, scans[uint32, [4]uint32]{scanUint32[add], scanUint32[least], scanUint32[greatest]}, how, between[uint32](dst, src))
	case reflect.Uint64:
		return scanBy(s, scans[uint64, [2]uint64]{scanUint64[add], scanUint64[least], scanUint64[greatest]}, how, between[uint64](dst, src))
	case reflect.Float32:
		return scanBy(s, scans[float32, [4]float32]{scanFloat32[add], scanFloat32[least], scanFloat32[greatest]}, how, between[float32](dst, src))
	default:
		return scanBy(s, scans[float64, [2]float64]{scanFloat64[add], scanFloat64[least], scanFloat64[greatest]}, how, between[float64](dst, src))
	}
}

// scanLauncher launches scanTiles.
type scanLauncher[T number, A pack[T]] func(s *device.Stream, g device.Blocks, in, out device.Slice[A], restIn, restOut device.Slice[T], ticket device.Slice[uint32], state device.Slice[uint64], exclusive bool, nothing T) error

// scans lists the launchers of a type, indexed by Op.
type scans[T number, A pack[T]] [Max + 1]scanLauncher[T, A]

func scanBy[T number, A pack[T]](s *device.Stream, launch scans[T, A], how scanning, at ends[T]) error {
	if at.src.Len() == 0 {
		return idle(s)
	}
	if serial(s) {
		return scanSerially(s, how, at)
	}
	return scanInTiles(s, launch[how.op], how, at)
}

func scanInTiles[T number, A pack[T]](s *device.Stream, launch scanLauncher[T, A], how scanning, at ends[T]) error {
	in, restIn := packed[A](at.src)
	out, restOut := packed[A](at.dst)
	tiles := (in.Len() + min(restIn.Len(), 1) + scanSpan - 1) / scanSpan
	state, err := newTileStates(s, tiles, wordsOf[T]())
	if err != nil {
		return err
	}
	err = launch(s, device.Blocks{X: tiles}, in, out, restIn, restOut, state.ticket, state.words, how.exclusive, neutral[T](how.op))
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
