package quant

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

const (
	batchRows = 16 // vectors that a kernel for GPUs multiplies by weights that it reads once
	mostRows  = 64 // vectors for which it is faster to read quantised weights several times than to convert them
)

// Form is the grid of a kernel for GPUs: the Threads of a block, a multiple of 32 from 256 to 512, and the largest number of Blocks.
type Form struct{ Threads, Blocks int }

// plan is how a GPU multiplies.
type plan struct {
	Shape
	Form
	kernel
	rows, parts, words, share, slices int
}

// kernel is which kernel multiplies, with its tiles of columns and the bytes of its records.
type kernel struct{ number, tiles, bytes int }

// kernelOf returns the kernel for so many vectors of so many parts each.
func kernelOf(rows, parts int) kernel {
	switch n := rows * parts; {
	case n <= 3:
		return kernel{0, 1, int(unsafe.Sizeof(one{}))}
	case n <= 16:
		return kernel{1, 2, int(unsafe.Sizeof(sixteen{}))}
	}
	return kernel{2, 2, int(unsafe.Sizeof(thrice{}))}
}

// mostBytes is the shared memory of a block of threads.
const mostBytes = 227 << 10

// planOf returns the plan for vectors of an element type.
func planOf[X Element](d *device.Device, m Matrix, rows int) plan {
	return planIn[X](formOf[X](d.Info().Cores, m, rows), m, rows)
}

// formOf returns the form that was fastest on an H200.
func formOf[X Element](cores int, m Matrix, rows int) Form {
	switch {
	case m.Format == Q8_0 || brief[X]() && rows > 3 || !brief[X]() && rows > 1:
		return Form{256, cores}
	case m.tiles() >= 8*cores:
		return Form{256, 2 * cores}
	}
	return Form{512, cores}
}

// planIn returns the plan in a form. It has no slices if none fits in shared memory.
func planIn[X Element](f Form, m Matrix, rows int) plan {
	p := plan{Shape: m.Shape, Form: f, rows: rows, parts: floatParts, words: m.Format.planes() / 4}
	if brief[X]() {
		p.parts = 1
	}
	p.kernel = kernelOf(rows, p.parts)
	p.share = m.blocks()
	if most := mostBytes/p.bytes - p.before(); p.share > most {
		if most < chunkSize {
			return p // without slices
		}
		slices := (m.blocks() + most - 1) / most
		p.share = (m.blocks() + slices - 1) / slices
		for rest := m.blocks() % p.share; rest > 0 && rest < chunkSize; rest = m.blocks() % p.share {
			p.share--
		}
	}
	p.slices = (m.blocks() + p.share - 1) / p.share
	return p
}

// workspace returns the number of elements of the slices' results.
func (p plan) workspace() int {
	if p.slices == 1 {
		return 0
	}
	return p.slices * p.rows * p.Rows
}

// lanes returns the number of threads that store an element: a power of two, at most the number of warps.
func (p plan) lanes() int {
	n := 1
	for 2*n*p.rows*tileRows <= p.Threads && 2*n <= p.Threads/warpSize {
		n *= 2
	}
	return n
}

// sums returns where the sums are in shared memory, in units of 16 bytes.
func (p plan) sums() int { return p.Threads / warpSize * depth * chunkQuads(p.words) }

// before returns the shared memory before the vectors, in records.
func (p plan) before() int {
	bytes := p.sums()*16 + 2*p.Threads/warpSize*sumPairs(p.kernel.tiles)*8
	return (bytes + p.bytes - 1) / p.bytes
}

// grid returns the blocks of threads.
func (p plan) grid() device.Grid {
	return device.Grid{
		Blocks: device.Dim{X: max(1, min(p.Shape.tiles(), p.Blocks/p.slices)), Y: p.slices},
		Block:  device.Dim{X: p.Threads},
		Shared: (p.before() + p.share) * p.bytes,
	}
}

// MultiplyIn is Multiply of up to 16 vectors in a form for GPUs, for benchmarks.
func MultiplyIn[X, Y Element](s *device.Stream, f Form, m Matrix, x Operands[X, Y]) error {
	if err := errors.Join(m.check(), x.check(m.Shape)); err != nil {
		return err
	}
	if f.Threads%warpSize != 0 || f.Threads < x.Rows*tileRows || f.Threads > 512 || f.Blocks < 1 || x.Rows < 1 || x.Rows > batchRows || m.Rows == 0 || m.blocks() < chunkSize {
		return fmt.Errorf("%w: form %+v of a matrix of %d x %d and %d vectors", ErrShape, f, m.Rows, m.Columns, x.Rows)
	}
	p := planIn[X](f, m, x.Rows)
	if p.slices == 0 {
		return fmt.Errorf("%w: form %+v needs too much shared memory for %d vectors", ErrShape, f, x.Rows)
	}
	return multiplyDots(s, p, m, x)
}

// multiplyDots multiplies up to batchRows vectors.
func multiplyDots[X, Y Element](s *device.Stream, p plan, m Matrix, x Operands[X, Y]) error {
	single, brief := split(x.X)
	y, half := split(x.Y)
	z := size{int32(m.Rows), int32(m.Columns), int32(x.Rows), int32(p.parts), int32(p.share), int32(p.lanes()), int32(p.sums()), int32(p.before()), 0, x.Add, masks{0x00780078, 0x007f007f, 0x00800080}}
	if p.slices == 1 {
		return p.launch(s, m, ends{single, brief, y, half}, z)
	}
	if x.Workspace.Len() < p.workspace() {
		return fmt.Errorf("%w: a matrix of %d x %d, %d vectors, a workspace of %d elements instead of %d", ErrShape, m.Rows, m.Columns, x.Rows, x.Workspace.Len(), p.workspace())
	}
	work := x.Workspace.Slice(0, p.workspace())
	z.Add = false
	if err := p.launch(s, m, ends{single, brief, work, device.None[dtype.BF16]()}, z); err != nil {
		return err
	}
	return Join(s, device.Cover(x.Y.Len(), 256), work, y, half, x.Add)
}

// ends are vectors and results, each in one of two element types.
type ends struct {
	x     device.Slice[float32]
	half  device.Slice[dtype.BF16]
	y     device.Slice[float32]
	brief device.Slice[dtype.BF16]
}

// launcher is a launcher of the kernel dots.
type launcher = func(s *device.Stream, grid device.Grid, planes, scales, minima device.Slice[quad], x device.Slice[numbers], half device.Slice[halves], y device.Slice[float32], brief device.Slice[dtype.BF16], z size) error

// launch launches the kernel for the format and the columns.
func (p plan) launch(s *device.Stream, m Matrix, e ends, z size) error {
	launch := [...]launcher{DotsQ4One, DotsQ4Sixteen, DotsQ4Thrice}[p.number]
	var minima device.Slice[dtype.F16]
	if m.Format == Q8_0 {
		launch, minima = [...]launcher{DotsQ8One, DotsQ8Sixteen, DotsQ8Thrice}[p.number], device.None[dtype.F16]()
	} else {
		minima, z.Minimum = m.minima()
	}
	return launch(s, p.grid(), device.View[quad](m.Planes), device.View[quad](m.Scales), device.View[quad](minima), device.View[numbers](e.x), device.View[halves](e.half), e.y, e.brief, z)
}
