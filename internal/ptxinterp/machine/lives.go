package machine

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// life is the instructions of a function between which a thread may need the value of a register: all in which it occurs, and all of
// loops that keep it. Bounds are indices in Func.Code.
type life struct {
	first, last int
	used        bool
	// own is set if the register needs a row to itself: if a thread may read it before it writes it, or if it is used in another way
	// than by instructions that read all operands and then write all results.
	own bool
}

func (l *life) extend(at int) {
	if !l.used {
		l.first, l.used = at, true
	}
	l.first, l.last = min(l.first, at), max(l.last, at)
}

// stretch is instructions that a thread executes one after another: code[first:end]. Sets of registers are bitmaps.
type stretch struct {
	first, end int
	next       []int  // stretches that may follow
	in         bitmap // registers whose value before the stretch is needed
	set        bitmap // that it writes, whatever the values of predicates
}

type bitmap []uint64

func (b bitmap) has(i int) bool { return b[i/64]>>(i%64)&1 == 1 }
func (b bitmap) add(i int)      { b[i/64] |= 1 << (i % 64) }

func (b bitmap) members() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, m := range b {
			for ; m != 0; m &= m - 1 {
				if !yield(64*i + bits.TrailingZeros64(m)) {
					return
				}
			}
		}
	}
}

// livesOf returns the life of each register of f.
func livesOf(f *ptx.Func) []life {
	lives := make([]life, len(f.Regs))
	for _, v := range f.Params {
		pin(lives, v)
	}
	for _, v := range f.Returns {
		pin(lives, v)
	}
	parts := stretches(f)
	for i := range parts {
		parts[i].scan(f, lives)
	}
	for changed := true; changed; {
		changed = false
		for i := len(parts) - 1; i >= 0; i-- {
			for _, n := range parts[i].next {
				changed = parts[i].precedes(&parts[n]) || changed
			}
		}
	}
	for i := range parts {
		parts[i].extend(parts, lives)
	}
	return lives
}

// pin gives the register of a parameter, which a caller accesses, a row of its own.
func pin(lives []life, v *ptx.Var) {
	if v.Reg >= 0 {
		lives[v.Reg].used, lives[v.Reg].own = true, true
	}
}

// stretches takes the code of a function apart, at labels and after branches.
func stretches(f *ptx.Func) (parts []stretch) {
	starts := make([]bool, len(f.Code)+1)
	starts[0] = true
	for i := range f.Code {
		targets, _, ends := flow(f, i)
		for _, t := range targets {
			starts[t] = true
		}
		starts[i+1] = starts[i+1] || ends
	}
	at := make([]int, len(f.Code)+1)
	words := (len(f.Regs) + 63) / 64
	for i := range f.Code {
		if starts[i] {
			parts = append(parts, stretch{first: i, in: make(bitmap, words), set: make(bitmap, words)})
		}
		at[i], parts[len(parts)-1].end = len(parts)-1, i+1
	}
	for i := range parts {
		p := &parts[i]
		targets, goesOn, _ := flow(f, p.end-1)
		if goesOn {
			targets = append(targets, p.end)
		}
		for _, t := range targets {
			if t < len(f.Code) {
				p.next = append(p.next, at[t])
			}
		}
	}
	return parts
}

// flow returns where instruction i may branch to, whether the next one may follow, and whether a stretch ends with it.
func flow(f *ptx.Func, i int) (targets []int, goesOn, ends bool) {
	in := &f.Code[i]
	switch in.Op {
	case "bra", "brx":
		for _, o := range in.Args {
			switch o.Kind {
			case ptx.LabelOperand:
				targets = append(targets, o.Target)
			case ptx.TableOperand:
				targets = append(targets, f.Tables[o.Target].Targets...)
			}
		}
		return targets, in.Op == "bra" && in.Guard.Reg >= 0 || in.Op == "brx", true
	case "ret", "exit", "trap":
		return nil, in.Guard.Reg >= 0, true
	}
	return nil, true, false
}

// scan notes what the instructions of a stretch do to registers.
func (p *stretch) scan(f *ptx.Func, lives []life) {
	for i := p.first; i < p.end; i++ {
		in := &f.Code[i]
		results, known := resultsOf(in)
		for n := range in.Args {
			walk(&in.Args[n], func(r int) {
				if f.Regs[r].Type == ptx.Pred {
					return
				}
				lives[r].extend(i)
				lives[r].own = lives[r].own || !known
				if n >= results && !p.set.has(r) {
					p.in.add(r)
				}
			})
		}
		if in.Guard.Reg < 0 {
			for n := range in.Args[:min(results, len(in.Args))] {
				walk(&in.Args[n], func(r int) { p.set.add(r) })
			}
		}
	}
}

// walk calls f for the registers of an operand.
func walk(o *ptx.Operand, f func(reg int)) {
	if o.Kind == ptx.RegOperand {
		f(o.Reg)
	}
	for i := range o.Elems {
		walk(&o.Elems[i], f)
	}
}

// precedes adds what the stretch n, which may follow, needs and p does not write. It reports whether that is more than p needs already.
func (p *stretch) precedes(n *stretch) (changed bool) {
	for i, need := range n.in {
		if more := need &^ p.set[i] &^ p.in[i]; more != 0 {
			p.in[i] |= more
			changed = true
		}
	}
	return changed
}

// extend makes what is needed at the bounds of the stretch live there.
func (p *stretch) extend(parts []stretch, lives []life) {
	for r := range p.in.members() {
		lives[r].extend(p.first)
		lives[r].own = lives[r].own || p.first == 0
	}
	for _, n := range p.next {
		for r := range parts[n].in.members() {
			lives[r].extend(p.end - 1)
		}
	}
}

// resultsOf returns how many operands of an instruction, the first ones, are results. It is not known of instructions that use
// registers while others are executed, or that this file need not know because they are rare.
func resultsOf(in *ptx.Instr) (n int, known bool) {
	switch in.Op {
	case "add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "addc", "subc", "neg", "abs", "mul24", "sad", "dp4a",
		"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", "copysign", "testp", "setp", "set", "selp", "slct",
		"or", "xor", "not", "cnot", "shl", "shr", "shf", "popc", "clz", "brev", "bfind", "bfe", "bfi", "lop3", "prmt",
		"mov", "cvt", "cvta", "ld", "atom", "shfl", "vote", "match", "redux", "ldmatrix", "mma":
		return 1, true
	case "and":
		return 1, roundedSize(in) == 0
	case "st":
		return 0, !slices.Contains(in.Mods, "async")
	case "red", "bra", "ret", "exit":
		return 0, true
	}
	return 0, false
}
