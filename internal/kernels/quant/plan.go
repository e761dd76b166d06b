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
	mostRows  = 64 // vectors for which it is faster to read quantized weights several times than to convert them
	fewRows   = 16 // the same, for formats without kernels for tensor cores
)

// fewThreads is the largest number of threads in a block of the kernel few, of which a thread has up to 255 registers.
const fewThreads = 256

// Form is the grid of a kernel for GPUs: the Threads of a block, a multiple of 32 up to 512, and the largest number of Blocks.
type Form struct{ Threads, Blocks int }

// plan is how a GPU multiplies.
type plan struct {
	Shape
	Form
	kernel
	rows, parts, planes, share, slices int
	grouped                            bool
}

// kernel is which kernel multiplies, with its vectors, if it is few, or its tiles of columns, and the bytes of a block of the vectors.
type kernel struct {
	gemv, norm                bool
	number, few, tiles, bytes int
}

// fewOf returns the instance of the kernel few for a number of vectors.
func fewOf(f Format, rows int) kernel {
	switch {
	case rows == 1:
		return kernel{number: 0, few: 1, bytes: f.blockBytes()}
	case rows == 2 && f == Q8_0:
		return kernel{number: 1, few: 2, bytes: 2 * f.blockBytes()}
	}
	return kernel{number: 2, few: maxVectors, bytes: maxVectors * f.blockBytes()}
}

// dotsOf returns the instance of the kernel dots for vectors of the given number of parts.
func dotsOf(rows, parts int) kernel {
	switch n := rows * parts; {
	case n <= 3:
		return kernel{number: 0, tiles: 1, bytes: int(unsafe.Sizeof(one{}))}
	case n <= 8:
		return kernel{number: 1, tiles: 1, bytes: int(unsafe.Sizeof(eight{}))}
	case n <= 16:
		return kernel{number: 2, tiles: 2, bytes: int(unsafe.Sizeof(sixteen{}))}
	}
	return kernel{number: 3, tiles: 2, bytes: int(unsafe.Sizeof(thrice{}))}
}

// blockBytes returns the shared memory of the kernel few for a block of a vector.
func (f Format) blockBytes() int {
	var q interface{ quads() int } = nibbles{}
	if f == Q8_0 {
		q = bytes{}
	}
	return BlockSize / 4 / q.quads() * (q.quads() + 1) * int(unsafe.Sizeof(numbers{}))
}

// mostBytes is the shared memory of a block of threads.
const mostBytes = 227 << 10

// spareBytes is the shared memory that the translation of a kernel for Vulkan may need.
const spareBytes = 64

// prefersFew reports whether the kernel few multiplies that number of vectors faster than dots, as measured on an H200.
func prefersFew[X Element](f Format, rows int) bool {
	switch {
	case !f.dots() || rows == 1:
		return rows <= maxVectors
	case f.groups():
		return false
	case brief[X]():
		return rows == 2 && f == Q8_0
	}
	return rows <= maxVectors
}

// planOf returns the plan for vectors of an element type.
func planOf[X Element](d *device.Device, m Matrix, rows int) plan {
	if old(d) {
		p := newPlan[X](Form{fewThreads, m.tiles()}, m, rows)
		p.kernel = fewOf(m.Format, rows)
		l := d.Info().Limits
		return p.sliced(m, 1, max(l.SharedPerBlock, l.SharedDynamic)-spareBytes)
	}
	few := prefersFew[X](m.Format, rows)
	return planIn[X](formOf[X](d.Info().Cores, m, rows, few), m, rows, few)
}

// prefersGemv reports whether the kernel gemv multiplies that number of vectors fastest.
func prefersGemv[X Element](f Format, rows int) bool {
	return rows == 1 && brief[X]() && f.gemv() != nil
}

// formOf returns the form that was fastest on an H200.
func formOf[X Element](cores int, m Matrix, rows int, few bool) Form {
	switch {
	case prefersGemv[X](m.Format, rows) && m.Format != Q6_K:
		return Form{fewThreads, 2 * cores}
	case prefersGemv[X](m.Format, rows) && m.blocks() < 256: // with the most registers
		return Form{128, 3 * cores}
	case prefersGemv[X](m.Format, rows):
		return Form{fewThreads, cores}
	case few && rows == 1 && (!m.Format.dots() || m.Format == Q6_K): // whose kernel has the most registers
		return Form{128, 3 * cores}
	case few:
		return Form{fewThreads, 2 * cores}
	case m.Format == Q8_0 || m.Format == Q6_K || brief[X]() && rows > 3 || !brief[X]() && rows > 1:
		return Form{256, cores}
	case m.tiles() >= 8*cores:
		return Form{256, 2 * cores}
	}
	return Form{512, cores}
}

// newPlan returns a plan in a form, without a kernel.
func newPlan[X Element](f Form, m Matrix, rows int) plan {
	p := plan{Shape: m.Shape, Form: f, rows: rows, parts: floatParts, planes: m.Format.planes(), grouped: m.Format.groups(), share: m.blocks()}
	if brief[X]() {
		p.parts = 1
	}
	return p
}

// planIn returns the plan in a form. It has no slices if none fits in shared memory.
func planIn[X Element](f Form, m Matrix, rows int, few bool) plan {
	p := newPlan[X](f, m, rows)
	p.kernel = dotsOf(rows, p.parts)
	if few {
		p.kernel = fewOf(m.Format, rows)
	}
	if prefersGemv[X](m.Format, rows) {
		gemv := p
		gemv.kernel, gemv.slices = kernel{gemv: true}, 1
		if gemv.shared() <= mostBytes {
			return gemv
		}
	}
	step := 1
	if m.Format.groups() && !few {
		step = superBlocks
	}
	return p.sliced(m, step, mostBytes)
}

// sliced returns the plan with slices of the columns for which the given number of bytes of shared memory suffices. Slices are a multiple of
// step blocks.
func (p plan) sliced(m Matrix, step, bytes int) plan {
	if most := bytes/p.bytes - p.before(); p.share > most {
		if most -= most % step; most < chunkSize {
			return p // without slices
		}
		slices := (m.blocks() + most - 1) / most
		p.share = (m.blocks() + slices*step - 1) / (slices * step) * step
		for rest := m.blocks() % p.share; rest > 0 && rest < chunkSize; rest = m.blocks() % p.share {
			p.share--
		}
	}
	p.slices = (m.blocks() + p.share - 1) / p.share
	return p
}

// workspace returns the number of elements of the slices' results.
func (p plan) workspace() int { return p.slices * p.rows * p.Rows }

// lanes returns the number of threads that store an element: a power of two, at most the number of warps.
func (p plan) lanes() int {
	n := 1
	for !p.gemv && 2*n*p.rows*tileRows <= p.Threads && 2*n <= p.Threads/warpSize {
		n *= 2
	}
	return n
}

// sums returns where the sums are in shared memory, in units of 16 bytes: after the ring or, in the kernel few, after the vectors.
func (p plan) sums() int {
	if p.few > 0 {
		return p.share * p.bytes / 16
	}
	return p.Threads / warpSize * ringQuads(p.planes, p.grouped)
}

// before returns the shared memory beside the vectors, in blocks of them, or, in the kernel gemv, the number of chunks of a warp.
func (p plan) before() int {
	if p.gemv {
		perChunk := chunkSize * p.Threads / warpSize
		return (p.blocks() + perChunk - 1) / perChunk
	}
	bytes := 2 * p.Threads / warpSize * p.few * tileRows * 4
	if p.few == 0 {
		bytes = p.sums()*16 + 2*p.Threads/warpSize*sumPairs(p.kernel.tiles)*8
	}
	return (bytes + p.bytes - 1) / p.bytes
}

// shared returns the bytes of shared memory: in the kernel gemv, of the vector and of the sums of the warps.
func (p plan) shared() int {
	if p.gemv {
		return p.before()*p.Threads*(16+8) + p.Threads*p.Threads/warpSize*4
	}
	return (p.before() + p.share) * p.bytes
}

// grid returns the blocks of threads.
func (p plan) grid() device.Grid {
	return device.Grid{
		Blocks: device.Dim{X: max(1, min(p.Shape.tiles(), p.Blocks/p.slices)), Y: p.slices},
		Block:  device.Dim{X: p.Threads},
		Shared: p.shared(),
	}
}

// MultiplyIn is Multiply of up to 16 vectors, or four in formats without kernels for tensor cores, in a form for GPUs, for benchmarks.
func MultiplyIn[X, Y Element](s *device.Stream, f Form, m Matrix, x Operands[X, Y]) error {
	if err := errors.Join(m.check(), x.check(m.Shape)); err != nil {
		return err
	}
	if f.Threads%warpSize != 0 || f.Threads < x.Rows*tileRows || f.Threads > 512 || f.Blocks < 1 || x.Rows < 1 || x.Rows > batchRows || m.Rows == 0 || m.blocks() < chunkSize {
		return fmt.Errorf("%w: form %+v of a matrix of %d x %d and %d vectors", ErrShape, f, m.Rows, m.Columns, x.Rows)
	}
	few := prefersFew[X](m.Format, x.Rows)
	if few && f.Threads > fewThreads {
		return fmt.Errorf("%w: form %+v has more than %d threads", ErrShape, f, fewThreads)
	}
	if !few && !m.Format.dots() {
		return fmt.Errorf("%w: no kernel multiplies %d vectors by a matrix in format %s", ErrShape, x.Rows, layouts[m.Format].name)
	}
	p := planIn[X](f, m, x.Rows, few)
	if p.slices == 0 {
		return fmt.Errorf("%w: form %+v needs too much shared memory for %d vectors", ErrShape, f, x.Rows)
	}
	return multiplyDots(s, p, m, x)
}

// multiplyDots multiplies up to batchRows vectors.
func multiplyDots[X, Y Element](s *device.Stream, p plan, m Matrix, x Operands[X, Y]) error {
	single, brief := split(x.X)
	y, half := split(x.Y)
	z := p.size(m, x.Rows)
	z.Add = x.Add
	none := device.None[float32]()
	if p.slices == 1 && x.aligned() {
		return p.launch(s, m, ends{single, brief, none, y, half}, z)
	}
	if x.Workspace.Len() < p.workspace() {
		return fmt.Errorf("%w: a matrix of %d x %d, %d vectors, a workspace of %d elements instead of %d", ErrShape, m.Rows, m.Columns, x.Rows, x.Workspace.Len(), p.workspace())
	}
	work := x.Workspace.Slice(0, p.workspace())
	z.Add = false
	if err := p.launch(s, m, ends{single, brief, none, work, device.None[dtype.BF16]()}, z); err != nil {
		return err
	}
	return Join(s, device.Cover(x.Y.Len(), 256), work, y, half, x.Add)
}

// size returns the size of a product of a number of vectors.
func (p plan) size(m Matrix, rows int) size {
	_, factor := m.minima()
	return size{
		Rows: int32(m.Rows), Columns: int32(m.Columns), Vectors: int32(rows), Parts: int32(p.parts), Share: int32(p.share), Lanes: int32(p.lanes()),
		Sums: int32(p.sums()), Before: int32(p.before()), Minimum: factor, Masks: masks{0x00780078, 0x007f007f, 0x00800080, 0x003f003f}, Casts: castsOf(m.Format),
	}
}

// ends are vectors and results, each in one of two element types, and the gain of a norm or none.
type ends struct {
	x     device.Slice[float32]
	half  device.Slice[dtype.BF16]
	gain  device.Slice[float32]
	y     device.Slice[float32]
	brief device.Slice[dtype.BF16]
}

// castsOf returns the bits of 2^23 and, in Q8_0, the sign bits of the lower two bytes.
func castsOf(f Format) casts {
	if f == Q8_0 {
		return casts{0x4b000080, 0x4b008000}
	}
	return casts{0x4b000000, 0x4b000000}
}

// launch launches the kernel for the format and the vectors.
func (p plan) launch(s *device.Stream, m Matrix, e ends, z size) error {
	minima, _ := m.minima()
	planes, x, half := device.View[quad](m.Planes), device.View[numbers](e.x), device.View[halves](e.half)
	if p.norm {
		return m.Format.gemvNorm()(s, p.grid().Blocks, planes, device.View[pair](m.Scales), device.View[pair](minima), device.View[pair](m.groups()), x, device.View[numbers](e.gain), e.brief, z)
	}
	if p.gemv {
		return m.Format.gemv()(s, p.grid(), planes, device.View[pair](m.Scales), device.View[pair](minima), device.View[pair](m.groups()), half, e.y, e.brief, z)
	}
	if p.few == 0 {
		return m.Format.tensor()[p.number](s, p.grid(), planes, device.View[quad](m.Scales), device.View[quad](minima), device.View[quad](m.groups()), x, half, e.y, e.brief, z)
	}
	return m.Format.few()[p.number](s, p.grid(), planes, device.View[pair](m.Scales), device.View[pair](minima), device.View[pair](m.groups()), x, half, device.View[numbers](e.gain), e.y, e.brief, z, m.Format.fields())
}

// dotsLauncher is a launcher of the kernel dots.
type dotsLauncher = func(s *device.Stream, grid device.Grid, planes, scales, minima, groups device.Slice[quad], x device.Slice[numbers], half device.Slice[halves], y device.Slice[float32], brief device.Slice[dtype.BF16], z size) error

// gemvLauncher is a launcher of the kernel gemv.
type gemvLauncher = func(s *device.Stream, grid device.Grid, planes device.Slice[quad], scales, minima, groups device.Slice[pair], x device.Slice[halves], y device.Slice[float32], brief device.Slice[dtype.BF16], z size) error

// normLauncher is a launcher of the kernel gemvNorm.
type normLauncher = func(s *device.Stream, blocks device.Blocks, planes device.Slice[quad], scales, minima, groups device.Slice[pair], x, gain device.Slice[numbers], y device.Slice[dtype.BF16], z size) error

// fewLauncher is a launcher of the kernel few.
type fewLauncher = func(s *device.Stream, grid device.Grid, planes device.Slice[quad], scales, minima, groups device.Slice[pair], x device.Slice[numbers], half device.Slice[halves], gain device.Slice[numbers], y device.Slice[float32], brief device.Slice[dtype.BF16], z size, of fields) error

// tensor returns the instances of the kernel dots for the format, by the number that dotsOf returns.
func (f Format) tensor() [4]dotsLauncher {
	switch f {
	case Q8_0:
		return [...]dotsLauncher{DotsQ8One, DotsQ8Eight, DotsQ8Sixteen, DotsQ8Thrice}
	case Q4_K:
		return [...]dotsLauncher{DotsQ4KOne, DotsQ4KEight, DotsQ4KSixteen, DotsQ4KThrice}
	case Q6_K:
		return [...]dotsLauncher{DotsQ6KOne, DotsQ6KEight, DotsQ6KSixteen, DotsQ6KThrice}
	}
	return [...]dotsLauncher{DotsQ4One, DotsQ4Eight, DotsQ4Sixteen, DotsQ4Thrice}
}

// few returns the instances of the kernel few for the format, by the number that fewOf returns.
func (f Format) few() [3]fewLauncher {
	switch f {
	case Q4_0, Q4_1:
		return [...]fewLauncher{FewQ4One, nil, FewQ4Four}
	case Q8_0:
		return [...]fewLauncher{FewQ8One, FewQ8Two, FewQ8Four}
	case Q4_K:
		return [...]fewLauncher{FewQ4KOne, nil, nil}
	}
	return [...]fewLauncher{FewMixedOne, nil, FewMixedFour}
}

// gemv returns the instance of the kernel gemv for the format, or nil.
func (f Format) gemv() gemvLauncher {
	switch f {
	case Q4_0, Q4_1:
		return GemvQ4
	case Q4_K:
		return GemvQ4K
	case Q6_K:
		return GemvQ6K
	}
	return nil
}

// gemvNorm returns the instance of the kernel gemvNorm for a format that gemv has one for.
func (f Format) gemvNorm() normLauncher {
	switch f {
	case Q4_K:
		return GemvNormQ4K
	case Q6_K:
		return GemvNormQ6K
	}
	return GemvNormQ4
}
