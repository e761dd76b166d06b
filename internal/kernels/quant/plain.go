package quant

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// fewVectors is the number of vectors for which it is faster to multiply one after another: the kernels for several take as long for two
// as for eight, which is 2.4 times as long as for one.
const fewVectors = 2

// plain reports whether the kernels for CPUs multiply a number of vectors: on a CPU, on GPUs that lack the instructions of the kernels for
// several vectors, and if the matrix has few columns.
func (m Matrix) plain(d *device.Device, rows int) bool {
	return row.FormOf(d) == row.Plain || m.blocks() < chunkSize || old(d) && rows > 1
}

// old reports whether a GPU lacks the instructions of compute capability 8.0. It multiplies single vectors with the kernel lone.
func old(d *device.Device) bool { return d.Info().Capability.Major < 8 }

// plainWorkspace returns the elements of scratch memory for the kernels for CPUs: the sums of half blocks of a single vector, or interleaved
// vectors; and vectors and products as float32 numbers.
func plainWorkspace[X, Y Element](s Shape, rows int) (n int) {
	if n = 2 * s.blocks(); rows > fewVectors {
		n = batches(rows) * batchVectors * s.Columns
	}
	if brief[X]() {
		n += rows * s.Columns
	}
	if brief[Y]() {
		n += rows * s.Rows
	}
	return n
}

// batches returns the number of groups of batchVectors vectors.
func batches(rows int) int { return (rows + batchVectors - 1) / batchVectors }

// brief reports whether T is dtype.BF16.
func brief[T Element]() bool {
	_, yes := any(*new(T)).(dtype.BF16)
	return yes
}

// cut returns the first n elements of the scratch memory, and the others.
func cut(work device.Slice[float32], n int) (first, rest device.Slice[float32]) {
	return work.Slice(0, n), work.Slice(n, work.Len())
}

// multiplyPlain multiplies with the kernels for CPUs.
func multiplyPlain[X, Y Element](s *device.Stream, m Matrix, x Operands[X, Y]) error {
	work := x.Workspace
	from, half := split(x.X)
	if brief[X]() {
		from, work = cut(work, x.X.Len())
		if err := ConvertBF16(s, device.Cover(x.X.Len(), 64), half, from); err != nil {
			return err
		}
	}
	y, half := split(x.Y)
	if !brief[Y]() {
		return multiplyTiles(s, m, tileOperands{x.Rows, from, y, work, x.Add})
	}
	product, work := cut(work, x.Y.Len())
	if err := multiplyTiles(s, m, tileOperands{x.Rows, from, product, work, false}); err != nil {
		return err
	}
	return Join(s, device.Cover(x.Y.Len(), 64), product, y, half, x.Add)
}

// tileOperands are Operands of float32 numbers. work is for the sums of the half blocks of a vector, or for interleaved vectors.
type tileOperands struct {
	rows       int
	x, y, work device.Slice[float32]
	add        bool
}

// multiplyTiles multiplies a few vectors one after another, or several by weights that are converted once for batchVectors of them.
func multiplyTiles(s *device.Stream, m Matrix, x tileOperands) error {
	if x.rows > fewVectors {
		return multiplyBatches(s, m, x)
	}
	for i := range x.rows {
		one := x
		one.x, one.y = x.x.Slice(i*m.Columns, (i+1)*m.Columns), x.y.Slice(i*m.Rows, (i+1)*m.Rows)
		if err := multiplyTile(s, m, one); err != nil {
			return err
		}
	}
	return nil
}

// multiplyBatches multiplies groups of vectors.
func multiplyBatches(s *device.Stream, m Matrix, x tileOperands) error {
	const threads = 64
	n := batches(x.rows)
	from, _ := cut(x.work, n*batchVectors*m.Columns)
	grid := device.Grid{Blocks: device.Dim{X: (m.Columns*batchVectors + threads - 1) / threads, Y: n}, Block: device.Dim{X: threads}}
	if err := Interleave(s, grid, x.x, from, m.Columns, x.rows); err != nil {
		return err
	}
	minima, factor := m.minima()
	return m.Format.family().batch(s, device.Blocks{X: m.tiles(), Y: n}, m.Planes, m.Scales, minima, m.groups(), factor, from, x.y, m.Shape, x.rows, x.add, m.Format.fields())
}

// multiplyTile multiplies a vector.
func multiplyTile(s *device.Stream, m Matrix, x tileOperands) error {
	sums, _ := cut(x.work, 2*m.blocks())
	if m.Format != Q8_0 {
		if err := SumHalves(s, device.Cover(sums.Len(), 64), x.x, sums); err != nil {
			return err
		}
	}
	minima, factor := m.minima()
	return m.Format.family().tile(s, device.Blocks{X: m.tiles()}, m.Planes, m.Scales, minima, m.groups(), factor, x.x, sums, x.y, x.add, m.Format.fields())
}
