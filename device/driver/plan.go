package driver

import (
	"fmt"
	"slices"
	"unsafe"
)

// Plan is a launch: a kernel, a grid and the packed arguments. A generated launcher obtains a Plan from a stream, fills
// it and launches it. Package device checks the Plan, and a queue runs it. A Plan is invalid after Launch.
//
// The garbage collector does not see the addresses in the parameter block. So the plan's owner keeps the memory
// alive until the queue has taken the launch. If a buffer is closed earlier, either its memory is freed after the
// launch, or the launch returns an error (see Closed).
type Plan struct {
	owner  PlanOwner
	kernel *Kernel
	grid   Grid
	blocks [3]int   // of grid, with every dimension at least 1, or 0 along x
	block  [3]int   // of grid, with every dimension at least 1
	words  []uint64 // the parameter block, with room for the extra parameters of variants
	next   int      // index of the next parameter
	best   int      // index of the variant, set by Check
	number uint32   // of the launch in its queue
	serial bool     // see Serialize
	err    error
}

// PlanOwner makes Plans and takes them back. Package device implements it.
type PlanOwner interface {
	// Launch enqueues the plan and takes it back.
	Launch() error
	// Closed returns an error if the memory of an argument was closed after it was passed.
	Closed() error
	// Launched returns the line of the program that launches the plan, or "" if it is not
	// recorded.
	Launched() string
}

// NewPlan returns a plan whose owner is o. The owner must call Reset before each use.
func NewPlan(o PlanOwner) *Plan { return &Plan{owner: o} }

// Clone returns a copy of p with another owner.
func (p *Plan) Clone(o PlanOwner) *Plan {
	c := *p
	c.owner, c.words = o, slices.Clone(p.words)
	return &c
}

// Reset makes p a launch of k without arguments.
func (p *Plan) Reset(k *Kernel, g Grid) {
	n := (k.ParamBytes + CoarseBytes + TestBytes + 7) / 8
	if cap(p.words) < n {
		p.words = make([]uint64, n)
	}
	p.words = p.words[:n]
	clear(p.words) // padding is zero on every device
	p.kernel, p.grid, p.next, p.best, p.err, p.serial = k, g, 0, -1, nil, false
	p.grid.Cooperative = g.Cooperative || k.Cooperative
	if g.Cluster == (Dim{}) {
		p.grid.Cluster = k.Cluster
	}
	p.blocks = [3]int{g.Blocks.X, max1(g.Blocks.Y), max1(g.Blocks.Z)}
	p.block = [3]int{g.Block.X, max1(g.Block.Y), max1(g.Block.Z)}
}

// Owner returns the plan's owner.
func (p *Plan) Owner() PlanOwner { return p.owner }

// Launch enqueues the kernel. The plan must not be used afterwards.
func (p *Plan) Launch() error { return p.owner.Launch() }

// Closed returns an error if a buffer was closed after it became an argument. An Asynchronous queue
// calls it before it enqueues the plan.
func (p *Plan) Closed() error { return p.owner.Closed() }

// Launched returns the line of the program that launches the plan, such as "main.go:42", or "" if it
// is not recorded.
func (p *Plan) Launched() string { return p.owner.Launched() }

// Kernel returns the kernel to launch.
func (p *Plan) Kernel() *Kernel { return p.kernel }

// Grid returns the number of blocks, and the number of threads in a block, along each axis. Every number is at least 1,
// except that blocks[0] may be 0 before package device has checked the plan.
func (p *Plan) Grid() (blocks, block [3]int) { return p.blocks, p.block }

// Empty reports whether the grid has no blocks.
func (p *Plan) Empty() bool { return p.blocks[0] == 0 }

// Axis returns the number of blocks in the grid, and the number of threads in each block, along axis i (0, 1 or 2) of a
// launch of variant v.
func (p *Plan) Axis(i int, v *Variant) (blocks, threads int) {
	blocks = p.blocks[i]
	if i == 0 && v.Coarse > 0 {
		blocks = (blocks + v.Coarse - 1) / v.Coarse
	}
	return blocks, p.block[i]
}

// Cluster returns the number of blocks in a cluster along each axis, or zeros if the launch has no
// clusters.
func (p *Plan) Cluster() [3]int {
	if p.grid.Cluster == (Dim{}) {
		return [3]int{}
	}
	return p.grid.Cluster.array()
}

// Shared returns the size in bytes of the dynamic shared memory of a block that runs the variant.
func (p *Plan) Shared(v *Variant) int {
	_, dynamic := p.kernel.Memory(v)
	return dynamic + p.grid.Shared
}

// Variant returns the index of the variant for the plan's device, or -1 if the kernel has no variant for it.
func (p *Plan) Variant() int { return p.best }

// Plain reports whether the launch has no clusters, is not cooperative, and does not overlap.
func (p *Plan) Plain() bool {
	g := &p.grid
	return g.Cluster.X|g.Cluster.Y|g.Cluster.Z == 0 && !g.Cooperative && !p.Overlaps()
}

// Options returns the grid as the program requested it.
func (p *Plan) Options() Grid { return p.grid }

// Overlaps reports whether the kernel may start before the preceding kernel is done. Cooperative launches do not
// overlap, because they share a counter of arrivals.
func (p *Plan) Overlaps() bool {
	return !p.serial && !p.grid.Cooperative && p.best >= 0 && p.kernel.Variants[p.best].Awaits
}

// Serialize makes the launch wait for all preceding work.
func (p *Plan) Serialize() { p.serial = true }

// Params returns the parameter block, which is 8-aligned and has Kernel().ParamBytes+CoarseBytes+TestBytes
// bytes.
func (p *Plan) Params() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(p.words)) }

// SetHidden sets the hidden parameters, and the extra parameters of v, the variant that runs. If v is nil, there are no
// extra parameters. The argument launch is the number of the launch in its queue, counted from 0; package device uses
// it to find the launch of a Fault.
func (p *Plan) SetHidden(v *Variant, env uint64, launch, kernel uint32) {
	p.number = launch
	at := (p.kernel.ParamBytes - HiddenBytes) / 8
	p.words[at] = env
	p.words[at+1] = uint64(kernel)<<32 | uint64(launch)
	p.words[at+2] = uint64(p.blocks[0] * p.block[0])
	if v != nil && v.Test != "" {
		p.words[at+3] = bit(v.Test.holds(p.words, &p.blocks, &p.block))
	}
}

// Number returns the launch number that SetHidden has set.
func (p *Plan) Number() uint32 { return p.number }

// Check chooses the variant. It returns an error if the arguments do not match the parameters, or if the device cannot
// run the launch. If coarsen is set, even small launches use coarse variants.
func (p *Plan) Check(i *Info, coarsen bool) error {
	switch {
	case p.err != nil:
		return p.err
	case p.next != len(p.kernel.Params):
		return fmt.Errorf("device: %s: %d arguments for %d parameters: %w", p.kernel.Name, p.next, len(p.kernel.Params), ErrMismatch)
	}
	if err := p.kernel.current(); err != nil {
		return err
	}
	fit := p.Fit()
	if err := p.checkAssumptions(fit); err != nil {
		return err
	}
	fit.Line = fit.Line && (p.grid.Blocks.X >= coarseLeast*i.Cores || coarsen)
	p.best = p.kernel.Best(i.Capability, fit)
	if err := p.checkShared(&i.Limits); err != nil {
		return err
	}
	if fixed := &p.kernel.Block; fixed.X != 0 && fixed.array() != p.block {
		return fmt.Errorf("device: %s: block of %v, but the kernel is compiled for %v: %w", p.kernel.Name, p.grid.Block, *fixed, ErrGrid)
	}
	if fixed := &p.kernel.Cluster; fixed.X != 0 && fixed.array() != p.grid.Cluster.array() {
		return fmt.Errorf("device: %s: cluster of %v, but the kernel is compiled for %v: %w", p.kernel.Name, p.grid.Cluster, *fixed, ErrGrid)
	}
	if err := p.checkGrid(&i.Limits); err != nil {
		return fmt.Errorf("device: %s: %w", p.kernel.Name, err)
	}
	return nil
}

// coarseLeast is the number of blocks per core from which a launch gains by a coarse variant. A smaller
// launch would leave cores idle while each thread does more work: on an H200 it takes 60 ns longer.
const coarseLeast = 4

// checkShared returns an error if the chosen variant needs more shared memory than l allows.
func (p *Plan) checkShared(l *Limits) error {
	v := &Variant{}
	if p.best >= 0 {
		v = &p.kernel.Variants[p.best]
	}
	wants, dynamic := p.kernel.Memory(v)
	has := l.SharedPerBlock
	if dynamic += p.grid.Shared; dynamic > 0 {
		has, wants = max(has, l.SharedDynamic), wants+dynamic
	}
	if wants > has {
		return fmt.Errorf("device: %s: %d bytes of shared memory in a block, the device has %d: %w", p.kernel.Name, wants, has, ErrGrid)
	}
	return nil
}
