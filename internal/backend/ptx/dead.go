package ptx

// dropDead removes pure instructions and phis that nothing needs. Selection leaves many: it
// emits a value before it knows that all uses fold it into their own instruction.
func dropDead(f *function) {
	d := &liveMarker{def: make([]func(), len(f.regs)), needed: make([]bool, len(f.regs))}
	for _, b := range f.blocks {
		for i := range b.phis {
			d.def[b.phis[i].dst] = func() { d.all(b.phis[i].args) }
		}
		for i := range b.insts {
			if in := &b.insts[i]; in.pure {
				d.def[in.dst] = func() { d.all(in.args) }
			}
		}
	}
	for _, b := range f.blocks {
		for i := range b.insts {
			if !b.insts[i].pure {
				d.all(b.insts[i].args)
			}
		}
		d.need(b.cond.reg)
		for _, r := range b.stubRegs {
			d.need(r)
		}
		for len(d.work) > 0 {
			r := d.work[len(d.work)-1]
			d.work = d.work[:len(d.work)-1]
			d.def[r]()
		}
	}
	for _, b := range f.blocks {
		keepNeeded(b, d.needed)
	}
}

// liveMarker marks registers that are needed. def visits what the pure definition of a
// register reads.
type liveMarker struct {
	def    []func()
	needed []bool
	work   []reg
}

func (d *liveMarker) need(r reg) {
	if r == 0 || d.needed[r] {
		return
	}
	d.needed[r] = true
	if d.def[r] != nil {
		d.work = append(d.work, r)
	}
}

func (d *liveMarker) all(args []operand) {
	for _, a := range args {
		d.need(a.reg)
	}
}

func keepNeeded(b *block, needed []bool) {
	phis := b.phis[:0]
	for _, p := range b.phis {
		if needed[p.dst] {
			phis = append(phis, p)
		}
	}
	b.phis = phis
	insts := b.insts[:0]
	for _, in := range b.insts {
		if !in.pure || needed[in.dst] {
			insts = append(insts, in)
		}
	}
	b.insts = insts
}
