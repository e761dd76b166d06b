package ptx

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// atomics are the names of the operations that read and write, with the letter of the type:
// integers add alike with and without a sign.
var atomics = [...]struct{ name, sign string }{
	ir.OpAtomicAdd:  {"add", "u"},
	ir.OpAtomicSMin: {"min", "s"},
	ir.OpAtomicUMin: {"min", "u"},
	ir.OpAtomicSMax: {"max", "s"},
	ir.OpAtomicUMax: {"max", "u"},
	ir.OpAtomicAnd:  {"and", "b"},
	ir.OpAtomicOr:   {"or", "b"},
	ir.OpAtomicXor:  {"xor", "b"},
	ir.OpAtomicXchg: {"exch", "b"},
	ir.OpAtomicCAS:  {"cas", "b"},
}

// scopes by the IR's. A cluster needs sm_90; the device holds it, and orders as much.
var scopes = [...]string{ir.DeviceScope: ".gpu", ir.BlockScope: ".cta", ir.ClusterScope: ".gpu", ir.SystemScope: ".sys"}

// orders by the IR's. Sequential consistency is a preceding fence and what that leaves to order
// (Lustig, Sahasrabuddhe, Giroux: "A Formal Analysis of the NVIDIA PTX Memory Consistency Model").
var orders = [...]string{ir.Relaxed: ".relaxed", ir.Acquire: ".acquire", ir.Release: ".release", ir.AcqRel: ".acq_rel", ir.Sequential: ".acq_rel"}

// atomic selects an atomic operation.
func (s *selector) atomic(v *ir.Value) {
	at, space := s.addressOf(v.Args[0]), v.Args[0].Type.Space
	if space == ir.Local {
		s.private(v, at)
		return
	}
	order, scope := v.Memory()
	if order == ir.Sequential {
		s.emit(inst{op: "fence.sc" + scopes[scope]})
	}
	how := func(o ir.Order) string { return orders[o] + scopes[scope] + suffix(space) }
	switch {
	case v.Op == ir.OpAtomicLoad && order == ir.Sequential:
		s.vals[v.ID] = s.load("ld"+how(ir.Acquire)+memType(v.Type), classOf(v.Type), at)
	case v.Op == ir.OpAtomicLoad:
		s.vals[v.ID] = s.load("ld"+how(order)+memType(v.Type), classOf(v.Type), at)
	case v.Op == ir.OpAtomicStore && order == ir.Sequential:
		s.store("st"+how(ir.Release)+memType(v.Args[1].Type), at, s.operand(v.Args[1]))
	case v.Op == ir.OpAtomicStore:
		s.store("st"+how(order)+memType(v.Args[1].Type), at, s.operand(v.Args[1]))
	default:
		s.update(v, at, how(order))
	}
}

// update selects an operation that reads and writes; red where nobody wants the old value,
// for the operations and the orders that it has.
func (s *selector) update(v *ir.Value, at address, how string) {
	if v.Type.Bits() < 32 {
		s.vals[v.ID] = s.updatePart(v, at)
		return
	}
	if s.needsLoop(v) {
		s.vals[v.ID] = s.updateLoop(v, at)
		return
	}
	order, _ := v.Memory()
	op := how + "." + atomics[v.Op].name + atomicType(v)
	if s.used[v.ID] == 0 && v.Op < ir.OpAtomicXchg && (order == ir.Relaxed || order == ir.Release) {
		s.store("red"+op, at, s.operand(v.Args[1]))
		return
	}
	args := []operand{at.base}
	for _, a := range v.Args[1:] {
		args = append(args, s.operand(a))
	}
	r := s.out.newReg(classOf(v.Type))
	s.emit(inst{op: "atom" + op, form: access, dst: r, args: args, offset: at.offset})
	s.vals[v.ID] = operand{reg: r}
}

// needsLoop reports whether v may change 64 bits in another block's shared memory by an operation that is not
// indivisible there: on an H200 that holds for xor and max, while additions, exchanges and swaps are.
// The code that ptxas makes of all others falls back to a load and a store.
func (s *selector) needsLoop(v *ir.Value) bool {
	switch v.Op {
	case ir.OpAtomicAdd, ir.OpAtomicXchg, ir.OpAtomicCAS:
		return false
	}
	return s.cluster.peers && v.Args[0].Type.Space == ir.Generic && v.Type.Bits() == 64
}

// updateLoop tries to swap until no other thread came between, and returns what was there.
func (s *selector) updateLoop(v *ir.Value, at address) operand {
	order, scope := v.Memory()
	first := s.load("ld.relaxed"+scopes[scope]+".u64", b64, at)
	head, try, done := s.at, &block{}, &block{}
	s.jump(try)
	s.open(try)
	old := operand{reg: s.out.newReg(b64)}
	was := operand{reg: s.out.newReg(b64)}
	args := []operand{at.base, old, s.privately(v, old)}
	s.emit(inst{op: "atom" + orders[order] + scopes[scope] + ".cas.b64", form: access, dst: was.reg, args: args, offset: at.offset})
	try.phis = []phi{{dst: old.reg, args: []operand{first, was}}}
	try.preds = []*block{head, try}
	s.branch(s.def(pred, "setp.eq.s64", was, old), done, try)
	done.preds = []*block{try}
	s.open(done)
	return was
}

// updatePart is updateLoop for 8 or 16 bits, which PTX changes by a swap of the aligned word that contains them. The
// interpreter recognizes the word by the mask of its address: -4 for one of its bytes, -3 for one of its halves.
func (s *selector) updatePart(v *ir.Value, at address) operand {
	order, scope := v.Memory()
	space, n := v.Args[0].Type.Space, int64(v.Type.Bits())
	c := b64
	if short(space) {
		c = b32
	}
	whole := s.inReg(c, at.base)
	if at.offset != 0 {
		whole = s.def(c, "add.s"+bitsOfClass(c), whole, imm(at.offset))
	}
	word := address{base: s.def(c, "and.b"+bitsOfClass(c), whole, imm(-5+n/8))}
	low := whole
	if c == b64 {
		low = s.def(b32, "cvt.u32.u64", whole)
	}
	below := s.def(b32, "shl.b32", s.def(b32, "and.b32", low, imm(3)), imm(3))
	args := s.partArgs(v)

	how := scopes[scope] + suffix(space)
	first := s.load("ld.relaxed"+how+".u32", b32, word)
	head, try, done := s.at, &block{}, &block{}
	s.jump(try)
	s.open(try)
	old, was := operand{reg: s.out.newReg(b32)}, operand{reg: s.out.newReg(b32)}
	part := s.part(v, old, below)
	next := s.def(b32, "bfi.b32", s.changed(v, part, args), old, below, imm(n))
	s.emit(inst{op: "atom" + orders[order] + how + ".cas.b32", form: access, dst: was.reg, args: []operand{word.base, old, next}})
	try.phis = []phi{{dst: old.reg, args: []operand{first, was}}}
	try.preds = []*block{head, try}
	s.branch(s.def(pred, "setp.eq.s32", was, old), done, try)
	done.preds = []*block{try}
	s.open(done)
	if comparesSigned(v) {
		return s.cut(v.Type, part)
	}
	return part
}

// part returns the bits of a word that v changes, with the sign that v compares them with.
func (s *selector) part(v *ir.Value, word, below operand) operand {
	n := int64(v.Type.Bits())
	x := s.def(b32, "bfe.u32", word, below, imm(n))
	if comparesSigned(v) {
		x = s.def(b32, fmt.Sprintf("cvt.s32.s%d", n), x)
	}
	return x
}

func comparesSigned(v *ir.Value) bool { return v.Op == ir.OpAtomicSMin || v.Op == ir.OpAtomicSMax }

// partArgs returns the operands of v after the address, extended to 32 bits.
func (s *selector) partArgs(v *ir.Value) []operand {
	var args []operand
	for _, a := range v.Args[1:] {
		args = append(args, s.extended(a, comparesSigned(v)))
	}
	return args
}

func atomicType(v *ir.Value) string {
	if v.Type.IsFloat() {
		return memType(v.Type)
	}
	return "." + atomics[v.Op].sign + regBits(v.Type)
}

// private selects an atomic operation on memory of one thread, for which atom has no form:
// nobody else can come between.
func (s *selector) private(v *ir.Value, at address) {
	if v.Op == ir.OpAtomicStore {
		s.store("st.local"+memType(v.Args[1].Type), at, s.operand(v.Args[1]))
		return
	}
	typ, c := memType(v.Type), classOf(v.Type)
	old := s.load("ld.local"+typ, c, at)
	s.vals[v.ID] = old
	switch {
	case v.Op == ir.OpAtomicLoad:
	case v.Type.Bits() < 32:
		s.store("st.local"+typ, at, s.changed(v, s.part(v, old, imm(0)), s.partArgs(v)))
	default:
		s.store("st.local"+typ, at, s.privately(v, old))
	}
}

// privately returns what an operation leaves where old was.
func (s *selector) privately(v *ir.Value, old operand) operand {
	var args []operand
	for _, a := range v.Args[1:] {
		args = append(args, s.operand(a))
	}
	return s.changed(v, old, args)
}

// changed is privately for the given operands. Of a number with less than 32 bits, it leaves the upper bits undefined.
func (s *selector) changed(v *ir.Value, old operand, args []operand) operand {
	x, c := args[0], classOf(v.Type)
	switch {
	case v.Op == ir.OpAtomicXchg:
		return x
	case v.Op == ir.OpAtomicCAS:
		same := s.def(pred, "setp.eq.u"+regBits(v.Type), old, x)
		return s.def(c, "selp"+classes[c].typ, args[1], old, same)
	case v.Type.IsFloat():
		return s.def(c, "add.rn"+classes[c].typ, old, x)
	}
	return s.def(c, atomics[v.Op].name+atomicType(v), old, x)
}

// fence selects a fence.
func (s *selector) fence(v *ir.Value) {
	order, scope := v.Memory()
	op := "fence.acq_rel"
	if order == ir.Sequential {
		op = "fence.sc"
	}
	s.emit(inst{op: op + scopes[scope]})
}
