package quant

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/weights/blocks"
)

// tileRows is the number of rows in a tile.
const tileRows = 16

// BlockSize is the number of weights in a block of all formats.
const BlockSize = blocks.Size

// Format is a format of package weights/blocks.
type Format int

// The formats.
const (
	Q4_0 Format = iota
	Q4_1
	Q8_0
)

// bytes returns the size of a block in a file: two bytes for each factor, then the integers.
func (f Format) bytes() int { return 2*f.factors() + 4*f.planes() }

// factors returns the number of 16-bit factors of a block.
func (f Format) factors() int {
	if f == Q4_1 {
		return 2
	}
	return 1
}

// planes returns the number of 32-bit integers that the weights of a block are in.
func (f Format) planes() int {
	if f == Q8_0 {
		return 8
	}
	return 4
}

// Shape is the size of a matrix: Columns is a multiple of BlockSize.
type Shape struct{ Rows, Columns int }

// ErrShape is the error of a matrix whose shape does not fit its blocks or the vectors.
var ErrShape = errors.New("quant: shape does not fit")

// tiles returns the number of tiles, of which the last may be partial.
func (s Shape) tiles() int { return (s.Rows + tileRows - 1) / tileRows }

// blocks returns the number of blocks in a row.
func (s Shape) blocks() int { return s.Columns / BlockSize }

// packed returns the number of blocks of all tiles.
func (s Shape) packed() int { return s.tiles() * s.blocks() * tileRows }

// valid reports whether the shape is possible.
func (s Shape) valid() bool { return s.Rows >= 0 && s.Columns > 0 && s.Columns%BlockSize == 0 }

// Packed is a repacked matrix. Rows after the last, up to a full tile, are zero.
type Packed struct {
	Shape
	Format Format
	Planes []uint32    // (tiles, blocks, planes, 16)
	Scales []dtype.F16 // (tiles, blocks, 16)
	Minima []dtype.F16 // (tiles, blocks, 16) in the format Q4_1, otherwise empty
}

// Pack repacks a matrix whose rows are blocks of a file, one after another.
func Pack(f Format, data []byte, s Shape) (*Packed, error) {
	if f < Q4_0 || f > Q8_0 {
		return nil, fmt.Errorf("%w: no format %d", ErrShape, f)
	}
	if !s.valid() || len(data)%f.bytes() != 0 || len(data)/f.bytes() != s.Rows*s.blocks() {
		return nil, fmt.Errorf("%w: %d bytes in blocks of %d for %d rows of %d columns", ErrShape, len(data), f.bytes(), s.Rows, s.Columns)
	}
	n := s.packed()
	p := &Packed{Shape: s, Format: f, Planes: make([]uint32, f.planes()*n), Scales: make([]dtype.F16, n)}
	if f == Q4_1 {
		p.Minima = make([]dtype.F16, n)
	}
	for i := 0; len(data) > 0; i++ {
		p.place(i, data[:f.bytes()])
		data = data[f.bytes():]
	}
	return p, nil
}

// place stores block i of the file.
func (p *Packed) place(i int, block []byte) {
	row, column := i/p.blocks(), i%p.blocks()
	at, lane := row/tileRows*p.blocks()+column, row%tileRows
	p.Scales[at*tileRows+lane] = dtype.F16(binary.LittleEndian.Uint16(block))
	if len(p.Minima) > 0 {
		p.Minima[at*tileRows+lane] = dtype.F16(binary.LittleEndian.Uint16(block[2:]))
	}
	block = block[2*p.Format.factors():]
	for j := range p.Format.planes() {
		p.Planes[(at*p.Format.planes()+j)*tileRows+lane] = binary.LittleEndian.Uint32(block[4*j:])
	}
}

// Matrix is a Packed in device memory.
type Matrix struct {
	Shape
	Format Format
	Planes device.Slice[uint32]
	Scales device.Slice[dtype.F16]
	Minima device.Slice[dtype.F16] // in the format Q4_1, otherwise not used
}

// check reports whether the memory fits the shape.
func (m Matrix) check() error {
	n := m.packed()
	if m.Format < Q4_0 || m.Format > Q8_0 || !m.valid() || m.Planes.Len() != n*m.Format.planes() || m.Scales.Len() != n || m.Format == Q4_1 && m.Minima.Len() != n {
		return fmt.Errorf("%w: a matrix of %d x %d in format %d, with %d planes, %d scales and %d minima", ErrShape, m.Rows, m.Columns, m.Format, m.Planes.Len(), m.Scales.Len(), m.Minima.Len())
	}
	return nil
}

// minima returns the minima of a format with 4 bits, and the factor that they need: those of Q4_0 are -8 times its scales.
func (m Matrix) minima() (x device.Slice[dtype.F16], factor float32) {
	if m.Format == Q4_0 {
		return m.Scales, -8
	}
	return m.Minima, 1
}
