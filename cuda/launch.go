package cuda

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// Launch implements driver.Queue. The driver copies the parameter block before it returns.
func (q *queue) Launch(p *driver.Plan) error {
	k := p.Kernel()
	l, err := q.backend.load(k, p.Variant())
	if err == nil {
		err = l.allow(q.backend, p)
	}
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.launches%launchesPerTick == 0 && q.launches > 0 {
		if err := q.throttle(); err != nil {
			return err
		}
	}
	if err := p.Closed(); err != nil { // a buffer that is closed from here on waits for the lock, and is freed after the launch
		return err
	}
	var env uintptr
	if k.Environment() {
		if env, err = q.environment(); err != nil {
			return err
		}
	}
	p.SetHidden(l.variant, uint64(env), q.launches, l.number)
	q.launches++

	a := q.launch
	a.Function = cudasys.Function(l.function.Load())
	l.sizes(p, &a.Grid, &a.Block)
	a.Shared = uint32(p.Shared(l.variant))
	if a.Used = 0; !p.Plain() {
		a.Used = attributes(a.Attributes[:], p.Options(), p.Overlaps())
	}
	a.Params[0] = p.Params()
	name, call := "cuLaunchKernel", q.backend.driver.LaunchKernel
	if a.Used > 0 {
		name, call = "cuLaunchKernelEx", q.backend.driver.LaunchKernelEx
	}
	err = q.doInContext(name, func() cudasys.Status { return call(a) })
	a.Params[0] = nil
	if err != nil {
		return about(err, fmt.Sprintf("%s, %v blocks of %v threads", k.Name, a.Grid, a.Block))
	}
	return nil
}

// sizes converts the grid and block sizes of p to the driver's types.
func (l *loaded) sizes(p *driver.Plan, grid, block *[3]uint32) {
	for i := range grid {
		b, t := p.Axis(i, l.variant)
		grid[i], block[i] = uint32(b), uint32(t)
	}
}

// attributes stores the launch attributes of g, those beyond its sizes, in all and returns their
// number. A kernel that overlaps may start before the preceding one is done.
func attributes(all []cudasys.LaunchAttribute, g driver.Grid, overlaps bool) (n int) {
	add := func(id int32, values ...uint32) {
		all[n] = cudasys.LaunchAttribute{ID: id}
		copy(all[n].Value[:], values)
		n++
	}
	if g.Cooperative {
		add(cudasys.LaunchCooperative, 1)
	}
	if c := g.Cluster; c != (driver.Dim{}) {
		add(cudasys.LaunchCluster, uint32(c.X), uint32(max(1, c.Y)), uint32(max(1, c.Z)))
	}
	if overlaps {
		add(cudasys.LaunchProgrammatic, 1)
	}
	return n
}

// portableCluster is the size of the largest cluster that every GPU with clusters can run.
const portableCluster = 8

// allow raises the kernel's limits for dynamic shared memory and cluster size if p exceeds the
// driver's defaults. The plan was already checked against the device's limits.
func (l *loaded) allow(b *backend, p *driver.Plan) error {
	shared, wide := int32(p.Shared(l.variant)), !p.Plain() && p.Options().Cluster.Count() > portableCluster
	if shared <= l.shared.Load() && !wide {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if shared > l.shared.Load() {
		if err := l.set(b, cudasys.FuncMaxDynamicShared, shared); err != nil {
			return err
		}
		l.shared.Store(shared)
	}
	if wide {
		return l.set(b, cudasys.FuncNonPortableClusterOK, 1)
	}
	return nil
}

// set sets an attribute of the kernel. The lock is held.
func (l *loaded) set(b *backend, a cudasys.FunctionAttribute, v int32) error {
	err := b.do("cuFuncSetAttribute", func() cudasys.Status {
		return b.driver.FuncSetAttribute(cudasys.Function(l.function.Load()), a, v)
	})
	return about(err, fmt.Sprintf("%s, %d", l.kernel.Name, v))
}

// Load implements driver.Loader. It prepares the variants for all kinds of launches.
func (b *backend) Load(k *driver.Kernel) error {
	for _, f := range []driver.Fit{{Narrow: true, Line: true, Aligned: true}, {Narrow: true, Aligned: true}, {Narrow: true}, {}} {
		if _, err := b.load(k, k.Best(b.info.Capability, f)); err != nil {
			return err
		}
	}
	return nil
}

// Occupancy implements driver.Loader.
func (b *backend) Occupancy(k *driver.Kernel, threads, shared int) (driver.Occupancy, error) {
	l, err := b.load(k, k.Best(b.info.Capability, driver.Fit{Narrow: true, Line: true, Aligned: true}))
	if err != nil {
		return driver.Occupancy{}, err
	}
	o := driver.Occupancy{Threads: threads, Cores: b.info.Cores}
	f := cudasys.Function(l.function.Load())
	if threads == 0 {
		best := new(cudasys.BestBlock)
		err = b.do("cuOccupancyMaxPotentialBlockSize", func() cudasys.Status {
			return b.driver.OccupancyMaxPotentialBlockSize(best, f, uintptr(shared), 0)
		})
		if err != nil {
			return o, about(err, k.Name)
		}
		o.Threads = int(best.Block)
	}
	var blocks, registers, local int32
	err = b.do("cuOccupancyMaxActiveBlocksPerMultiprocessor", func() cudasys.Status {
		return b.driver.OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, int32(o.Threads), uintptr(shared))
	})
	if err == nil {
		err = b.do("cuFuncGetAttribute", func() cudasys.Status {
			if s := b.driver.FuncGetAttribute(&registers, cudasys.FuncRegisters, f); s != cudasys.Success {
				return s
			}
			return b.driver.FuncGetAttribute(&local, cudasys.FuncLocalBytes, f)
		})
	}
	o.Blocks, o.Registers, o.Stack = int(blocks), int(registers), int(local)
	return o, about(err, k.Name)
}
