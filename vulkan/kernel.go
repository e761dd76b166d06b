package vulkan

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

// code is one of a kernel's variants for blocks of a size.
type code struct {
	kernel  *driver.Kernel
	variant int
	block   [3]int
	cluster [3]int // blocks of a cluster, or zeros
	shared  int    // bytes of dynamic shared memory
}

// loaded is a kernel that is ready to run, or why it is not.
type loaded struct {
	pipeline vulkansys.Pipeline
	data     *buffer // constants, or nil
	pushed   bool    // its parameter block is in the push constants
	number   uint32
	variant  int    // of the kernel
	cluster  [3]int // as in code
	err      error
}

// variant returns the index of the variant that a launch runs, or -1 if the kernel has none for Vulkan.
func variant(p *driver.Plan) int {
	i := p.Variant()
	for _, c := range newerCapabilities {
		if i < 0 {
			i = p.Kernel().Best(c, p.Fit())
		}
	}
	return i
}

// threads returns the number of threads of a workgroup.
func (c *code) threads() int {
	n := 1
	for i := range 3 {
		n *= c.block[i] * max(1, c.cluster[i])
	}
	return n
}

// load returns the code that a launch runs, translated and compiled by the first launch that needs it. The lock is held.
func (b *backend) load(p *driver.Plan) *loaded {
	k := p.Kernel()
	i := variant(p)
	if i < 0 {
		return &loaded{err: fmt.Errorf("vulkan: %w", k.NoVariant(b.information))}
	}
	_, block := p.Grid()
	c := code{k, i, block, p.Cluster(), p.Shared(&k.Variants[i])}
	if n := c.threads(); n > b.information.Limits.ThreadsPerBlock {
		return &loaded{err: fmt.Errorf("vulkan: %s: %d threads in a cluster, the device has %d: %w", k.Name, n, b.information.Limits.ThreadsPerBlock, driver.ErrGrid)}
	}
	if l, ok := b.kernels[c]; ok {
		return l
	}
	l := &loaded{number: uint32(len(b.list)), variant: i, cluster: c.cluster}
	b.list = append(b.list, k)
	b.kernels[c] = l
	if err := b.make(l, c); err != nil {
		l.err = cannotLoad(k.Name, err)
		if !errors.Is(l.err, driver.ErrNoVariant) { // the next launch may have more luck
			delete(b.kernels, c)
		}
	}
	return l
}

// cannotLoad returns the error for a kernel that could not be loaded. It matches driver.ErrNoVariant only if the device lacks something.
func cannotLoad(kernel string, err error) error {
	if errors.Is(err, ptxspirv.ErrUnsupported) {
		return fmt.Errorf("vulkan: %s: %w: %w", kernel, driver.ErrNoVariant, err)
	}
	return fmt.Errorf("vulkan: %s: compiling the kernel: %w", kernel, outOfMemory(err))
}

// make translates and compiles a kernel.
func (b *backend) make(l *loaded, c code) error {
	text, err := c.kernel.Variants[c.variant].PTX.Plain()
	if err != nil {
		return err
	}
	m, err := ptx.Parse(text)
	if err != nil {
		return err
	}
	p, err := ptxspirv.Translate(m, c.kernel.Entry(), ptxspirv.Options{
		Block: c.block, Cluster: c.cluster, Shared: c.shared, Subgroup: b.subgroup.lanes, Push: b.push, Lacks: b.lacks, Views: b.views, Arithmetic: b.arithmetic,
	})
	if err != nil {
		return err
	}
	if has := b.information.Limits.SharedPerBlock; p.Shared > has {
		return fmt.Errorf("%d bytes of shared memory in a workgroup, the device has %d: %w", p.Shared, has, driver.ErrGrid)
	}
	return b.compile(l, p)
}

// compile makes a pipeline of a program.
func (b *backend) compile(l *loaded, p *ptxspirv.Program) (err error) {
	l.pushed = p.Pushed
	if len(p.Data) > 0 {
		if l.data, err = b.allocate(len(p.Data), nearMemory); err != nil {
			return err
		}
		copy(l.data.host, p.Data)
		b.finished = append(b.finished, l.data.free)
	}
	shader, err := b.CreateShaderModule(b.device, p.Words)
	if err != nil {
		return err
	}
	defer b.DestroyShaderModule(b.device, shader)
	lanes := 0
	if b.subgroup.demanded {
		lanes = b.subgroup.lanes
	}
	if l.pipeline, err = b.CreatePipeline(b.device, b.layout, shader, lanes); err != nil {
		return err
	}
	b.finished = append(b.finished, func() { b.DestroyPipeline(b.device, l.pipeline) })
	return nil
}

// numbered returns the kernel with a number from a record, or nil.
func (b *backend) numbered(n uint32) *driver.Kernel {
	if int(n) >= len(b.list) {
		return nil
	}
	return b.list[n]
}
