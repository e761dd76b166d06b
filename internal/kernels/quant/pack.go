package quant

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/weights/blocks"
)

// tileRows is the number of rows in a tile.
const tileRows = 16

// Shape is the size of a matrix: Columns is a multiple of BlockSize.
type Shape struct{ Rows, Columns int }

// ErrShape is the error of a matrix whose shape does not fit its blocks or the vectors.
var ErrShape = errors.New("quant: shape does not fit")

// check reports whether the shape is that of n blocks.
func (s Shape) check(n int) error {
	if s.Rows < 0 || s.Columns <= 0 || s.Columns%BlockSize != 0 || s.Rows*(s.Columns/BlockSize) != n {
		return fmt.Errorf("%w: %d blocks for %d rows of %d columns", ErrShape, n, s.Rows, s.Columns)
	}
	return nil
}

// tiles returns the number of tiles, of which the last may be partial.
func (s Shape) tiles() int { return (s.Rows + tileRows - 1) / tileRows }

// Blocks returns the number of blocks in a row.
func (s Shape) Blocks() int { return s.Columns / BlockSize }

// PackedQ4 is a repacked matrix of the format Q4_1. Rows after the last, up to a full tile, are zero.
type PackedQ4 struct {
	Shape
	Planes []uint32    // (tiles, blocks, 4, 16)
	Scales []dtype.F16 // (tiles, blocks, 16)
	Minima []dtype.F16 // (tiles, blocks, 16)
}

// PackQ4 repacks a matrix whose rows are blocks one after another.
func PackQ4(list []blocks.Q4_1, s Shape) (*PackedQ4, error) {
	if err := s.check(len(list)); err != nil {
		return nil, err
	}
	n := s.tiles() * s.Blocks() * tileRows
	p := &PackedQ4{s, make([]uint32, 4*n), make([]dtype.F16, n), make([]dtype.F16, n)}
	for i, b := range list {
		at, lane := s.place(i)
		p.Scales[at*tileRows+lane], p.Minima[at*tileRows+lane] = b.D, b.M
		for j := range 4 {
			p.Planes[(at*4+j)*tileRows+lane] = binary.LittleEndian.Uint32(b.Q[4*j:])
		}
	}
	return p, nil
}

// place returns where block i of the file is: the number of the tile's block, and the row in the tile.
func (s Shape) place(i int) (at, lane int) {
	row, block := i/s.Blocks(), i%s.Blocks()
	return row/tileRows*s.Blocks() + block, row % tileRows
}

// PackedQ8 is a repacked matrix of the format Q8_0.
type PackedQ8 struct {
	Shape
	Planes []uint32    // (tiles, blocks, 8, 16)
	Scales []dtype.F16 // (tiles, blocks, 16)
}

// PackQ8 repacks a matrix whose rows are blocks one after another.
func PackQ8(list []blocks.Q8_0, s Shape) (*PackedQ8, error) {
	if err := s.check(len(list)); err != nil {
		return nil, err
	}
	n := s.tiles() * s.Blocks() * tileRows
	p := &PackedQ8{s, make([]uint32, 8*n), make([]dtype.F16, n)}
	for i, b := range list {
		at, lane := s.place(i)
		p.Scales[at*tileRows+lane] = b.D
		for k, q := range b.Q {
			p.Planes[(at*8+k/4)*tileRows+lane] |= uint32(uint8(q)) << (k % 4 * 8)
		}
	}
	return p, nil
}
