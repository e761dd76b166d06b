package machine

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/traffic"
)

// count counts what a memory instruction of the threads of a mask costs, if that is wanted.
func (w *warp) count(in *instr, mask uint32) {
	counts := w.block.launch.counts
	if counts == nil {
		return
	}
	x, a := in.mem, w.row(in.a)
	var at row
	var shared, global uint32
	for l := range lanes(mask) {
		at[l] = a[l] + in.imm
		space := x.space
		if space == ptx.Generic {
			space = spaceAt(at[l])
		}
		switch space {
		case ptx.Shared:
			shared |= 1 << l
		case ptx.Global:
			global |= 1 << l
		}
	}
	c := &counts[x.place]
	c.OnShared(&at, shared, x.total)
	c.OnGlobal(&at, global, x.total)
}

// tabulate sums the counts of instructions by source line; where there is none, by line of the PTX text.
func (l *launch) tabulate() {
	if l.counts == nil {
		return
	}
	t := &traffic.Table{}
	for pc, c := range l.counts {
		if c == (traffic.Counts{}) {
			continue
		}
		at := l.prog.positions[pc]
		line := traffic.Line{Kernel: l.prog.name, File: l.prog.files[at.loc.File], Line: at.loc.Line}
		if line.File == "" {
			line.File, line.Line = "PTX", at.line
		}
		t.Add(line, c)
	}
	l.stats.Traffic = t
}
