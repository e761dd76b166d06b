package machine

import (
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// specialValue returns what a special register holds in lane l of warp w of a block.
type specialValue func(b *block, w, l int) uint64

// specialRow is a special register that a program uses.
type specialRow struct {
	row       int32
	value     specialValue
	perThread bool // the threads of a warp have different values
	perBlock  bool // another block of the grid has another value
}

// special returns the row of a special register (chapter 10 of the manual). Those that change
// while a thread runs are read into a row of their own each time.
func (d *decoder) special(name string, t ptx.Type) int32 {
	size := 4
	switch name {
	case "%clock64", "%globaltimer", "%gridid":
		size = 8
	}
	changing, value := changingSpecial(name), specialRegister(name)
	if changing == nil && value == nil {
		d.fail("undeclared register or unknown special register %s", name)
		return 0
	}
	if t.Size() != size || t.Class() == ptx.Float {
		d.fail("special register %s of %d bits as %v", name, 8*size, t)
	}
	if changing != nil {
		return d.readSpecial(changing, size)
	}
	r, ok := d.specials[name]
	if !ok {
		r = d.row(size)
		d.specials[name] = r
		d.prog.specials = append(d.prog.specials, specialRow{
			row: r, value: value,
			perThread: strings.HasPrefix(name, "%tid") || strings.HasPrefix(name, "%lane"),
			perBlock:  strings.Contains(name, "cta") || strings.HasPrefix(name, "%cluster"),
		})
	}
	return r
}

func (d *decoder) readSpecial(read func(w *warp) uint64, size int) int32 {
	r := d.row(size)
	d.emit(instr{exec: func(w *warp, in *instr, mask uint32) {
		dst, v := w.row(in.d), read(w)
		for l := range lanes(mask) {
			dst[l] = v
		}
	}, d: r})
	return r
}

// changingSpecial returns how to read a clock, or nil. All clocks count the instructions of
// the launch; a timer's unit is then a nanosecond of a machine of one instruction each.
func changingSpecial(name string) func(w *warp) uint64 {
	switch name {
	case "%clock", "%globaltimer_lo":
		return func(w *warp) uint64 { return w.clock() & 0xffffffff }
	case "%clock_hi", "%globaltimer_hi":
		return func(w *warp) uint64 { return w.clock() >> 32 }
	case "%clock64", "%globaltimer":
		return (*warp).clock
	}
	return nil
}

// specialRegister returns how to compute the value of a register that does not change while a
// thread runs, or nil.
func specialRegister(name string) specialValue {
	if base, axis, ok := strings.Cut(name, "."); ok {
		return vectorSpecial(base, axis)
	}
	if mask := laneMask(name); mask != nil {
		return func(_ *block, _, l int) uint64 { return mask(l) & allLanes }
	}
	switch name {
	case "%laneid":
		return func(_ *block, _, l int) uint64 { return uint64(l) }
	case "%warpid":
		return func(_ *block, w, _ int) uint64 { return uint64(w) }
	case "%nwarpid":
		return func(b *block, _, _ int) uint64 { return uint64(b.launch.warps()) }
	case "%nsmid":
		return always(1)
	case "%smid", "%gridid":
		return always(0)
	case "%cluster_nctarank":
		return func(b *block, _, _ int) uint64 { return uint64(b.launch.clusterSize()) }
	case "%cluster_ctarank":
		return func(b *block, _, _ int) uint64 { return uint64(b.rank()) }
	case "%total_smem_size":
		return func(b *block, _, _ int) uint64 { return uint64(len(b.shared.data)) }
	case "%dynamic_smem_size":
		return func(b *block, _, _ int) uint64 { return uint64(b.launch.Shared) }
	}
	if i, err := strconv.Atoi(strings.TrimPrefix(name, "%envreg")); err == nil && i >= 0 && i < 32 {
		return always(0)
	}
	return nil
}

func always(v uint64) specialValue { return func(*block, int, int) uint64 { return v } }

func laneMask(name string) func(l int) uint64 {
	switch name {
	case "%lanemask_eq":
		return func(l int) uint64 { return 1 << l }
	case "%lanemask_le":
		return func(l int) uint64 { return 2<<l - 1 }
	case "%lanemask_lt":
		return func(l int) uint64 { return 1<<l - 1 }
	case "%lanemask_ge":
		return func(l int) uint64 { return allLanes << l }
	case "%lanemask_gt":
		return func(l int) uint64 { return allLanes << l << 1 }
	}
	return nil
}

// vectorSpecial returns a component of %tid and its like. The fourth is always 0.
func vectorSpecial(base, component string) specialValue {
	axis := strings.Index("xyzw", component)
	if len(component) != 1 || axis < 0 {
		return nil
	}
	var v func(b *block, w, l int) [3]int
	switch base {
	case "%tid":
		v = func(b *block, w, l int) [3]int { return b.launch.thread(w*warpSize + l) }
	case "%ntid":
		v = func(b *block, _, _ int) [3]int { return b.launch.Block }
	case "%ctaid":
		v = func(b *block, _, _ int) [3]int { return b.index }
	case "%nctaid":
		v = func(b *block, _, _ int) [3]int { return b.launch.Grid }
	case "%clusterid":
		v = func(b *block, _, _ int) [3]int { return divided(b.index, b.launch.clusterDim()) }
	case "%nclusterid":
		v = func(b *block, _, _ int) [3]int { return divided(b.launch.Grid, b.launch.clusterDim()) }
	case "%cluster_ctaid":
		v = func(b *block, _, _ int) [3]int { return b.inCluster() }
	case "%cluster_nctaid":
		v = func(b *block, _, _ int) [3]int { return b.launch.clusterDim() }
	default:
		return nil
	}
	if axis == 3 {
		return always(0)
	}
	return func(b *block, w, l int) uint64 { return uint64(v(b, w, l)[axis]) }
}

func divided(a, b [3]int) [3]int { return [3]int{a[0] / b[0], a[1] / b[1], a[2] / b[2]} }
