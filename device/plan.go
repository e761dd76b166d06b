package device

import (
	"fmt"
	"unsafe"
)

// Plan is a launch that is being prepared: a kernel, a grid, packed arguments. It belongs
// to the stream that made it and is gone with Launch.
//
// Lifetimes: the parameter block holds addresses that the collector does not see, so the plan
// pins the memory that they point into until the backend has taken the launch. A buffer that
// is closed meanwhile is freed after it, or is the launch's error (see Closed).
type Plan struct {
	stream *Stream
	kernel *Kernel
	grid   Grid
	blocks [3]int   // of grid, with every dimension at least 1
	block  [3]int   // likewise
	words  []uint64 // the parameter block of a coarse variant, which is that of others too
	held   []*allocation
	next   int     // the parameter that is put next
	best   int     // variant, once the plan was checked
	number uint32  // of the launch in its queue
	from   callers // where it came from, if that is recorded
	err    error
}

func (p *Plan) reset(k *Kernel, g Grid) {
	n := (k.ParamBytes + CoarseBytes + 7) / 8
	if cap(p.words) < n {
		p.words = make([]uint64, n)
	}
	p.words = p.words[:n]
	clear(p.words) // padding is zero on every device
	p.kernel, p.grid, p.next, p.err = k, g, 0, nil
	p.grid.Cooperative = g.Cooperative || k.Cooperative
	if g.Cluster == (Dim{}) {
		p.grid.Cluster = k.Cluster
	}
	p.blocks = [3]int{g.Blocks.X, max1(g.Blocks.Y), max1(g.Blocks.Z)}
	p.block = [3]int{g.Block.X, max1(g.Block.Y), max1(g.Block.Z)}
	if p.from[0] != 0 {
		p.from = callers{}
	}
}

// release lets go of the memory that the plan held, which may have waited to be freed.
func (p *Plan) release() error {
	var err error
	if p.stream.later == nil {
		for _, a := range p.held {
			err = join(err, a.unpin())
		}
	}
	clear(p.held)
	p.held = p.held[:0]
	return err
}

// span is a Slice of any type.
type span struct {
	from   *allocation
	offset int
	len    int
	err    error
}

// lend returns where the launch finds a slice, and holds its memory.
func (p *Plan) lend(s span) (address uintptr, err error) {
	switch {
	case s.err != nil:
		return 0, s.err
	case s.from == nil:
		return 0, ErrNilBuffer
	case p.stream.later != nil:
		address, err = s.from.lend(p.stream)
	default:
		address, err = s.from.pin(p.stream)
	}
	if err == nil {
		p.held = append(p.held, s.from)
	}
	return address + uintptr(s.offset), err
}

// Closed returns an error where a buffer was closed after it became an argument. An Asynchronous
// queue asks before it enqueues the plan.
func (p *Plan) Closed() error {
	for _, a := range p.held {
		if a.state.Load() < 0 {
			return fmt.Errorf("device: %s: a buffer among the arguments %w", p.kernel.Name, ErrClosed)
		}
	}
	return nil
}

// Kernel returns the kernel to launch.
func (p *Plan) Kernel() *Kernel { return p.kernel }

// Grid returns the grid, with every dimension at least 1.
func (p *Plan) Grid() (blocks, block [3]int) { return p.blocks, p.block }

// Axis returns the blocks along an axis of the grid, 0 to 2, that run the variant, and their threads.
func (p *Plan) Axis(i int, v *Variant) (blocks, threads int) {
	blocks = p.blocks[i]
	if i == 0 && v.Coarse > 0 {
		blocks = (blocks + v.Coarse - 1) / v.Coarse
	}
	return blocks, p.block[i]
}

// Cluster returns the number of blocks in a cluster along each axis; zeros where the launch has no clusters.
func (p *Plan) Cluster() [3]int {
	if p.grid.Cluster == (Dim{}) {
		return [3]int{}
	}
	return p.grid.Cluster.array()
}

// Shared returns the bytes of dynamic shared memory of a block that runs the variant.
func (p *Plan) Shared(v *Variant) int {
	_, dynamic := p.kernel.Memory(v)
	return dynamic + p.grid.Shared
}

// Variant returns the index of the variant that runs the plan on its stream's device, or -1 where
// the kernel has none. It is for the queue that launches the plan.
func (p *Plan) Variant() int { return p.best }

// Plain reports whether the grid asks for nothing beyond its sizes and shared memory.
func (p *Plan) Plain() bool {
	g := &p.grid
	return g.Cluster.X|g.Cluster.Y|g.Cluster.Z == 0 && !g.Cooperative && !g.Overlap
}

// Options returns the whole grid as it was asked for.
func (p *Plan) Options() Grid { return p.grid }

// Params returns the parameter block of Kernel().ParamBytes bytes, 8-aligned, and CoarseBytes
// more. A backend that sets the hidden parameters writes to it.
func (p *Plan) Params() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(p.words)) }

// Launched returns the line that launches the plan, "main.go:42", where that is recorded.
func (p *Plan) Launched() string { return p.from.site() }

// SetHidden sets the hidden parameters, that of coarse variants too. The launch's number is that of Outcome.FaultLaunch.
func (p *Plan) SetHidden(env uint64, launch, kernel uint32) {
	p.number = launch
	at := (p.kernel.ParamBytes - HiddenBytes) / 8
	p.words[at] = env
	p.words[at+1] = uint64(kernel)<<32 | uint64(launch)
	p.words[at+2] = uint64(p.blocks[0] * p.block[0])
}

// PutSlice adds a slice as the next argument.
func PutSlice[T any](p *Plan, s Slice[T]) { p.putSlice(span(s), sizeOf[T]()) }

// putSlice is PutSlice for elements of so many bytes. The usual slice comes first, in one piece: it takes 5 ns then
// instead of 8, and sixteen arguments are most of what Go takes for a launch.
func (p *Plan) putSlice(s span, elem int) {
	if i := p.next; i < len(p.kernel.Params) && s.err == nil && s.from != nil && p.stream.later != nil {
		x, b := &p.kernel.Params[i], s.from.block
		if x.Size == sliceBytes && x.Elem == elem && b.recent.Load() == p.stream && b.state.Load() >= 0 { // as in lend
			p.next = i + 1
			p.held = append(p.held, s.from)
			w := p.words[x.Offset/8:][:3]
			w[0], w[1], w[2] = uint64(b.address+uintptr(s.offset)), uint64(s.len), uint64(s.len)
			return
		}
	}
	at, ok := p.parameter(sliceBytes, elem)
	if !ok {
		return
	}
	address, err := p.lend(s)
	if err != nil {
		p.fail(err)
		return
	}
	w := p.words[at/8 : at/8+3 : at/8+3]
	w[0], w[1], w[2] = uint64(address), uint64(s.len), uint64(s.len)
}

// sliceBytes is the size of a slice in the parameter block.
const sliceBytes = 24

// Put adds a number, a boolean or a struct without slices as the next argument.
func Put[T any](p *Plan, v T) {
	if at, ok := p.parameter(int(unsafe.Sizeof(v)), 0); ok {
		*(*T)(unsafe.Add(p.Params(), at)) = v
	}
}

// tensorParameter returns the offset of the next parameter, which must be a tensor map.
func (p *Plan) tensorParameter() (offset int, ok bool) {
	i := p.next
	if i < len(p.kernel.Params) && !p.kernel.Params[i].Tensor {
		p.next++
		p.fail(ErrMismatch)
		return 0, false
	}
	return p.parameter(TensorMapBytes, 0)
}

// parameter returns the offset of the next parameter, which must have the given sizes.
func (p *Plan) parameter(size, elem int) (offset int, ok bool) {
	i := p.next
	p.next++
	if i < len(p.kernel.Params) {
		if x := &p.kernel.Params[i]; x.Size == size && x.Elem == elem {
			return x.Offset, true
		}
	}
	p.fail(ErrMismatch)
	return 0, false
}

// fail keeps the first error, with the name of the argument that was put last.
func (p *Plan) fail(err error) {
	if p.err != nil {
		return
	}
	name := ""
	if i := p.next - 1; i < len(p.kernel.Params) {
		name = p.kernel.Params[i].Name + ": "
	}
	p.err = fmt.Errorf("device: %s: %s%w", p.kernel.Name, name, err)
}

// check reports what is wrong with the plan, on a device.
func (p *Plan) check(i *Info) error {
	switch {
	case p.err != nil:
		return p.err
	case p.next != len(p.kernel.Params):
		return fmt.Errorf("device: %s: %d arguments for %d parameters: %w", p.kernel.Name, p.next, len(p.kernel.Params), ErrMismatch)
	}
	if err := p.kernel.current(); err != nil {
		return err
	}
	if err := p.checkShared(i); err != nil {
		return err
	}
	if fixed := &p.kernel.Block; fixed.X != 0 && fixed.array() != p.block {
		return fmt.Errorf("device: %s: a block of %v, the kernel is compiled for %v: %w", p.kernel.Name, p.grid.Block, *fixed, ErrGrid)
	}
	if fixed := &p.kernel.Cluster; fixed.X != 0 && fixed.array() != p.grid.Cluster.array() {
		return fmt.Errorf("device: %s: a cluster of %v, the kernel is compiled for %v: %w", p.kernel.Name, p.grid.Cluster, *fixed, ErrGrid)
	}
	if err := p.checkGrid(&i.Limits); err != nil {
		return fmt.Errorf("device: %s: %w", p.kernel.Name, err)
	}
	return nil
}

// coarseLeast is how many blocks for each core a launch has that gains by a coarse variant. A smaller one
// would leave cores idle, and each thread has more to do: on an H200 it takes longer by 60 ns.
const coarseLeast = 4

// checkShared chooses the variant and reports whether there is too little shared memory for it.
func (p *Plan) checkShared(i *Info) error {
	v, fit := &Variant{}, p.Fit()
	fit.Line = fit.Line && (p.grid.Blocks.X >= coarseLeast*i.Cores || p.stream.device.coarsen.Load())
	if p.best = p.kernel.Best(i.Capability, fit); p.best >= 0 {
		v = &p.kernel.Variants[p.best]
	}
	wants, dynamic := p.kernel.Memory(v)
	has := i.Limits.SharedPerBlock
	if dynamic += p.grid.Shared; dynamic > 0 {
		has, wants = max(has, i.Limits.SharedDynamic), wants+dynamic
	}
	if wants > has {
		return fmt.Errorf("device: %s: %d bytes of shared memory in a block, the device has %d: %w", p.kernel.Name, wants, has, ErrGrid)
	}
	return nil
}

// Launch enqueues the kernel. The plan must not be used afterwards.
func (p *Plan) Launch() error { return p.stream.launch(p) }
