package vasm

import (
	"math/bits"
	"slices"
	"strings"
)

// interval is where a register is needed: instruction i reads at 2i and writes at 2i+1.
type interval struct {
	reg        Reg
	start, end int
	weight     float64 // of its uses
	place      int     // the machine's register, or -1
	slot       int64   // in the frame otherwise
}

// reads calls f for every register that o reads.
func (o *Operand) reads(f func(Reg)) {
	switch {
	case o.kind == memory:
		f(o.reg)
		if o.scale > 0 {
			f(o.index)
		}
	case o.kind == register && o.uses:
		f(o.reg)
	}
}

// registers is a set of them, a bit each: code with hundreds of blocks has thousands of registers.
type registers []uint64

func newRegisters(count int) registers { return make(registers, (count+63)/64) }

func (s registers) has(r Reg) bool { return s[r/64]>>(r%64)&1 == 1 }
func (s registers) add(r Reg)      { s[r/64] |= 1 << (r % 64) }
func (s registers) remove(r Reg)   { s[r/64] &^= 1 << (r % 64) }

// each calls f for every register of the set.
func (s registers) each(f func(Reg)) {
	for k, word := range s {
		for ; word != 0; word &= word - 1 {
			f(Reg(64*k + bits.TrailingZeros64(word)))
		}
	}
}

// block is a straight piece of code.
type block struct {
	first, end int // instructions
	succs      []int
	in         registers // live at the beginning
}

func isJump(op string) bool { return op[:min(1, len(op))] == "J" }

func split(code []inst) []block {
	var list []block
	at := map[string]int{}
	start := 0
	cut := func(i int) {
		if i > start {
			list = append(list, block{first: start, end: i})
			start = i
		}
	}
	for i, in := range code {
		if label, ok := strings.CutSuffix(in.op, ":"); ok {
			cut(i)
			at[label] = len(list)
		}
		if isJump(in.op) || in.op == "RET" {
			cut(i + 1)
		}
	}
	cut(len(code))
	for i := range list {
		last := code[list[i].end-1]
		if isJump(last.op) {
			list[i].succs = append(list[i].succs, at[last.ops[0].text])
		}
		if last.op != "JMP" && last.op != "RET" && i+1 < len(list) {
			list[i].succs = append(list[i].succs, i+1)
		}
	}
	return list
}

// intervals finds where each register is needed.
func intervals(code []inst, count int) []*interval {
	all := make([]*interval, count)
	note := func(r Reg, at int) {
		if all[r] == nil {
			all[r] = &interval{reg: r, start: at, end: at, place: -1, slot: -1}
		}
		all[r].start, all[r].end = min(all[r].start, at), max(all[r].end, at)
	}
	blocks := split(code)
	for sweep(code, blocks, count) {
	}
	live := newRegisters(count)
	for i := range blocks {
		blocks[i].in.each(func(r Reg) { note(r, 2*blocks[i].first) })
		liveOut(blocks, i, live)
		live.each(func(r Reg) { note(r, 2*blocks[i].end-1) })
	}
	for i, in := range code {
		weight := 1.0
		for range in.depth {
			weight *= 8
		}
		for k := range in.ops {
			o := &in.ops[k]
			o.reads(func(r Reg) { note(r, 2*i); all[r].weight += weight })
			if o.kind == register && o.defs {
				note(o.reg, 2*i+1)
				if o.soon {
					note(o.reg, 2*i)
				}
				all[o.reg].weight += weight
			}
		}
	}
	return all
}

// solve finds what is live where blocks begin.
func solve(code []inst, blocks []block, count int) {
	for i := range blocks {
		blocks[i].in = newRegisters(count)
	}
	live := newRegisters(count)
	for changed := true; changed; {
		changed = false
		for i := len(blocks) - 1; i >= 0; i-- {
			liveOut(blocks, i, live)
			scan(code, &blocks[i], live)
			if !slices.Equal(live, blocks[i].in) {
				blocks[i].in, live, changed = live, blocks[i].in, true
			}
		}
	}
}

// liveOut makes live what is live where block i ends.
func liveOut(blocks []block, i int, live registers) {
	clear(live)
	for _, s := range blocks[i].succs {
		for k, word := range blocks[s].in {
			live[k] |= word
		}
	}
}

// plain reports whether in does nothing but write its last operand, a register.
func (in *inst) plain() bool {
	if in.op == "" || in.op != "MOVQ" && in.op != "LEAQ" && in.op[0] != 'V' && in.op[0] != 'K' || len(in.ops) == 0 {
		return false
	}
	o := in.ops[len(in.ops)-1]
	return o.kind == register && o.defs && !o.uses
}

// sweep takes away what writes registers that nothing reads. It reports whether there was any.
func sweep(code []inst, blocks []block, count int) (found bool) {
	solve(code, blocks, count)
	live := newRegisters(count)
	for i, b := range blocks {
		liveOut(blocks, i, live)
		for k := b.end - 1; k >= b.first; k-- {
			if in := &code[k]; in.plain() && !live.has(in.ops[len(in.ops)-1].reg) {
				*in, found = inst{depth: in.depth, pos: in.pos}, true
			}
			scan(code, &block{first: k, end: k + 1}, live)
		}
	}
	return found
}

// scan takes live from the end of b to its beginning.
func scan(code []inst, b *block, live registers) {
	for i := b.end - 1; i >= b.first; i-- {
		for _, o := range code[i].ops {
			if o.kind == register && o.defs && !o.uses {
				live.remove(o.reg)
			}
		}
		for k := range code[i].ops {
			code[i].ops[k].reads(live.add)
		}
	}
}
