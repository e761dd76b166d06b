package machine

import (
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// special returns the row of a special register (chapter 10 of the manual). Those that change
// while a thread runs are read into a row of their own each time.
func (d *decoder) special(name string, t ptx.Type) int32 {
	size := 4
	switch name {
	case "%clock64", "%globaltimer", "%gridid":
		size = 8
	}
	changing := changingSpecial(name)
	if _, known := specialValue(name, &block{launch: &launch{}}, 0, 0); changing == nil && !known {
		d.fail("undeclared register or unknown special register %s", name)
		return 0
	}
	if t.Size() != size || t.Class() == ptx.Float {
		d.fail("special register %s of %d bits as %v", name, 8*size, t)
	}
	if changing != nil {
		r := d.row(size)
		d.emit(instr{exec: func(w *warp, in *instr, mask uint32) {
			dst, v := w.row(in.d), changing(w)
			for l := range lanes(mask) {
				dst[l] = v
			}
		}, d: r})
		return r
	}
	r, ok := d.prog.specials[name]
	if !ok {
		r = d.row(size)
		d.prog.specials[name] = r
	}
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

// specialValue returns what a thread of warp w, lane l, of block b sees in a special register.
func specialValue(name string, b *block, w, l int) (uint64, bool) {
	base, axis, _ := strings.Cut(name, ".")
	if axis != "" {
		i := strings.Index("xyzw", axis)
		if len(axis) != 1 || i < 0 {
			return 0, false
		}
		return vectorSpecial(base, b, w*warpSize+l, i)
	}
	switch name {
	case "%laneid":
		return uint64(l), true
	case "%warpid":
		return uint64(w), true
	case "%nwarpid":
		return uint64(len(b.warps)), true
	case "%lanemask_eq":
		return 1 << l, true
	case "%lanemask_le":
		return 2<<l - 1, true
	case "%lanemask_lt":
		return 1<<l - 1, true
	case "%lanemask_ge":
		return allLanes << l & allLanes, true
	case "%lanemask_gt":
		return allLanes << l << 1 & allLanes, true
	case "%nsmid", "%cluster_nctarank":
		return 1, true
	case "%smid", "%gridid", "%cluster_ctarank":
		return 0, true
	case "%total_smem_size":
		return uint64(len(b.shared.data)), true
	case "%dynamic_smem_size":
		return uint64(b.launch.Shared), true
	}
	index, err := strconv.Atoi(strings.TrimPrefix(name, "%envreg"))
	return 0, err == nil && index >= 0 && index < 32
}

func vectorSpecial(base string, b *block, thread, axis int) (uint64, bool) {
	if axis == 3 { // the fourth component is always 0, or 1 for sizes
		_, ok := vectorSpecial(base, b, thread, 0)
		return 0, ok
	}
	switch base {
	case "%tid":
		return uint64(b.launch.thread(thread)[axis]), true
	case "%ntid":
		return uint64(b.launch.Block[axis]), true
	case "%ctaid", "%clusterid":
		return uint64(b.index[axis]), true
	case "%nctaid", "%nclusterid":
		return uint64(b.launch.Grid[axis]), true
	case "%cluster_ctaid":
		return 0, true
	case "%cluster_nctaid":
		return 1, true
	}
	return 0, false
}
