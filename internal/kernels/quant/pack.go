package quant

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/weights/blocks"
)

// tileRows is the number of rows in a tile.
const tileRows = 16

// BlockSize is the number of weights in a block of kernels, and of files except in the formats whose names end with _K.
const BlockSize = blocks.Size

// Shape is the size of a matrix: Columns is a multiple of BlockSize, and of blocks.SizeK in formats whose names end with _K.
type Shape struct{ Rows, Columns int }

// ErrShape is the error of a matrix whose shape does not fit its blocks or the vectors.
var ErrShape = errors.New("quant: shape does not fit")

// tiles returns the number of tiles, of which the last may be partial.
func (s Shape) tiles() int { return (s.Rows + tileRows - 1) / tileRows }

// WholeTiles reports whether the rows of another matrix may follow in the same memory: whether no tile is partial.
func (s Shape) WholeTiles() bool { return s.Rows%tileRows == 0 }

// blocks returns the number of blocks in a row.
func (s Shape) blocks() int { return s.Columns / BlockSize }

// packed returns the number of blocks of all tiles.
func (s Shape) packed() int { return s.tiles() * s.blocks() * tileRows }

// fits reports whether a matrix in a format can have the shape.
func (s Shape) fits(f Format) bool {
	return f.valid() && s.Rows >= 0 && s.Columns > 0 && s.Columns%layouts[f].size == 0
}

// Packed is a repacked matrix. Rows after the last, up to a full tile, are zero.
type Packed struct {
	Shape
	Format Format
	Planes []uint32    // (tiles, blocks, planes, 16)
	Scales []dtype.F16 // (tiles, blocks, 16), or (tiles, superblocks, 16) in a format whose name ends with _K
	Minima []dtype.F16 // of the size of Scales in the formats Q4_1, Q5_1, Q2_K, Q4_K and Q5_K, otherwise empty
	Groups []uint16    // (tiles, blocks, 16) in a format whose name ends with _K, otherwise empty

	// Moderate is whether float16 has more precision than bfloat16 for the weights: none is beyond its range, and the largest ones are far
	// from its subnormal numbers.
	Moderate bool
}

// Pack repacks a matrix whose rows are blocks of a file, one after another.
func Pack(f Format, data []byte, s Shape) (*Packed, error) {
	return PackGuarded(f, data, s, func(read func() error) error { return read() })
}

// PackGuarded is Pack for data of a mapped file. Several goroutines read the data, each in a function that it passes to guard.
func PackGuarded(f Format, data []byte, s Shape, guard func(read func() error) error) (*Packed, error) {
	if !f.valid() {
		return nil, fmt.Errorf("%w: no format %d", ErrShape, f)
	}
	of := layouts[f]
	if !s.fits(f) {
		return nil, fmt.Errorf("%w: %d rows of %d columns: %s has blocks of %d columns", ErrShape, s.Rows, s.Columns, of.name, of.size)
	}
	if len(data)%of.bytes != 0 || len(data)/of.bytes != s.Rows*(s.Columns/of.size) {
		return nil, fmt.Errorf("%w: %d bytes in blocks of %d for %d rows of %d columns", ErrShape, len(data), of.bytes, s.Rows, s.Columns)
	}
	p := newPacked(f, s)
	if err := p.fill(data, guard); err != nil {
		return nil, err
	}
	return p, nil
}

// fill stores the blocks of a file. Each goroutine takes a range of tiles.
func (p *Packed) fill(data []byte, guard func(read func() error) error) error {
	of := layouts[p.Format]
	perTile := tileRows * (p.Columns / of.size)
	workers := min(runtime.GOMAXPROCS(0), p.tiles())
	errs := make([]error, workers)
	bounds := make([]float64, workers)
	var group sync.WaitGroup
	for w := range workers {
		first := p.tiles() * w / workers * perTile
		end := min(p.tiles()*(w+1)/workers*perTile, len(data)/of.bytes)
		read := func() error {
			var u unpacked
			for i := first; i < end; i++ {
				of.unpack(data[i*of.bytes:][:of.bytes], &u)
				p.place(i, &u)
				bounds[w] = max(bounds[w], of.bound(&u))
			}
			return nil
		}
		group.Go(func() { errs[w] = guard(read) })
	}
	group.Wait()
	most := 0.0
	for _, x := range bounds {
		most = max(most, x) // NaN if one is
	}
	p.Moderate = most >= 0x1p-6 && most <= 65504
	return errors.Join(errs...)
}

// bound returns a bound of the magnitudes of the weights of a block: a few times the largest one that its scale permits.
func (l *layout) bound(u *unpacked) float64 {
	return (math.Abs(u.scale.Float64())*float64(int(1)<<(l.lower+l.upper)) + math.Abs(u.minimum.Float64())) * float64(max(l.group.Mask, 1))
}

// newPacked returns a matrix of zeros.
func newPacked(f Format, s Shape) *Packed {
	n := s.packed()
	p := &Packed{Shape: s, Format: f, Planes: make([]uint32, f.planes()*n), Scales: make([]dtype.F16, n/f.blocks())}
	if layouts[f].minima {
		p.Minima = make([]dtype.F16, len(p.Scales))
	}
	if f.groups() {
		p.Groups = make([]uint16, n)
	}
	return p
}

// place stores block i of the file.
func (p *Packed) place(i int, u *unpacked) {
	n := p.Format.blocks()
	row, column := i*n/p.blocks(), i*n%p.blocks()
	at, lane := row/tileRows*p.blocks()+column, row%tileRows
	p.Scales[at/n*tileRows+lane] = u.scale
	if len(p.Minima) > 0 {
		p.Minima[at/n*tileRows+lane] = u.minimum
	}
	for g := range n {
		if n > 1 {
			p.Groups[(at+g)*tileRows+lane] = u.groups[g]
		}
		p.placeWords((at+g)*p.Format.planes()*tileRows+lane, &u.words[g])
	}
}

// placeWords stores the integers of a block in planes, of which the first is at an index.
func (p *Packed) placeWords(at int, from *words) {
	lower, upper := layouts[p.Format].lower, layouts[p.Format].upper
	to := p.Planes[at:]
	for plane := range lower {
		to[plane*tileRows] = merge(from, plane, lower, 0)
	}
	for plane := range upper {
		to[(lower+plane)*tileRows] = merge(from, plane, upper, lower)
	}
}

// merge returns a plane of n planes with n bits of each weight, of which the lowest has a number.
func merge(from *words, plane, n, lowest int) (x uint32) {
	for j := plane; j < len(from); j += n {
		x |= from[j] >> lowest & fieldMask(n) << (j - plane)
	}
	return x
}

// Matrix is a Packed in device memory. Minima and Groups are not used in formats in which those of Packed are empty.
type Matrix struct {
	Shape
	Format Format
	Planes device.Slice[uint32]
	Scales device.Slice[dtype.F16]
	Minima device.Slice[dtype.F16]
	Groups device.Slice[uint16]
}

// valid reports whether a matrix in the format can have the shape.
func (m Matrix) valid() bool { return m.fits(m.Format) }

// check reports whether the memory fits the shape.
func (m Matrix) check() error {
	if !m.valid() {
		return fmt.Errorf("%w: a matrix of %d x %d in format %d", ErrShape, m.Rows, m.Columns, m.Format)
	}
	n, scales := m.packed(), m.packed()/m.Format.blocks()
	if m.Planes.Len() != n*m.Format.planes() || m.Scales.Len() != scales || layouts[m.Format].minima && m.Minima.Len() != scales || m.Format.groups() && m.Groups.Len() != n {
		return fmt.Errorf("%w: a matrix of %d x %d in format %s, with %d planes, %d scales, %d minima and %d groups", ErrShape, m.Rows, m.Columns, layouts[m.Format].name, m.Planes.Len(), m.Scales.Len(), m.Minima.Len(), m.Groups.Len())
	}
	return nil
}

// minima returns the minima of a format, and the factor that they need: the formats whose names end with _K subtract theirs, and in formats
// with signed integers, which are stored as unsigned ones, they are a negative multiple of the scales.
func (m Matrix) minima() (x device.Slice[dtype.F16], factor float32) {
	l := layouts[m.Format]
	switch {
	case l.factor == 0:
		return device.None[dtype.F16](), 0
	case l.minima:
		return m.Minima, l.factor
	}
	return m.Scales, l.factor
}

// groups returns the groups or, if the format has none, as many other integers, of which kernels use no bits.
func (m Matrix) groups() device.Slice[uint16] {
	if m.Format.groups() {
		return m.Groups
	}
	return device.View[uint16](m.Scales)
}
