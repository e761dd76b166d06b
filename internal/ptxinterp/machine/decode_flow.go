package machine

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

func (d *decoder) branch() {
	d.m.has("uni")
	if !d.args(1, 1) {
		return
	}
	o := d.arg(0)
	if o.Kind != ptx.LabelOperand {
		d.fail("undeclared label %s", describe(o))
	}
	d.emit(instr{kind: branch, target: int32(o.Target)})
}

func (d *decoder) branchIndexed() {
	d.m.has("uni")
	d.need(d.m.has("idx"))
	if !d.args(2, 2) {
		return
	}
	o := d.arg(1)
	if o.Kind != ptx.TableOperand {
		d.fail("%s is no .branchtargets", describe(o))
		return
	}
	in := instr{kind: indexBranch, a: d.src(0, ptx.U32)}
	for _, t := range d.fn.f.Tables[o.Target].Targets {
		in.list = append(in.list, int32(t))
	}
	d.emit(in)
}

// pendingCall is a call whose callee's place is not known yet.
type pendingCall struct {
	at int
	fn *function
}

func (d *decoder) calls() {
	for _, c := range d.pending {
		d.prog.code[c.at].target = c.fn.start
	}
}

// call decodes a call as moves into the parameters, the jump, and moves of the results.
func (d *decoder) call() {
	d.m.has("uni")
	var returns, params []ptx.Operand
	args := d.in.Args
	if len(args) > 0 && args[0].Kind == ptx.ListOperand {
		returns, args = args[0].Elems, args[1:]
	}
	if len(args) == 2 && args[1].Kind == ptx.ListOperand {
		params, args = args[1].Elems, args[:1]
	}
	f := d.callee(d.in)
	if len(args) != 1 || f == nil || f.Entry {
		d.fail("call of something other than a function of this module")
		return
	}
	if len(params) != len(f.Params) || len(returns) != len(f.Returns) {
		d.fail("%d parameters and %d results for %s, which has %d and %d", len(params), len(returns), f.Name, len(f.Params), len(f.Returns))
		return
	}
	callee := d.funcs[f]
	for i, o := range params {
		d.pass(o, f.Params[i], callee)
	}
	d.pending = append(d.pending, pendingCall{len(d.prog.code), callee})
	d.emit(instr{kind: call, a: callee.ret})
	for i, o := range returns {
		d.receive(o, f.Returns[i], callee)
	}
}

// pass moves an argument into the callee's parameter v.
func (d *decoder) pass(o ptx.Operand, v *ptx.Var, callee *function) {
	switch {
	case o.Kind == ptx.VarOperand && v.Reg < 0:
		d.copyLocal(d.addrs[v], d.local(o), v.Size())
	case o.Kind == ptx.VarOperand:
		x := &access{space: ptx.Local, count: 1, size: uint64(v.Type.Size()), mask: mask(8), near: d.near()}
		x.total, x.rows[0] = x.size, callee.regs[v.Reg]
		d.emit(instr{exec: execLoad, mem: x, a: d.constant(d.local(o))})
	case v.Reg < 0:
		x := &access{space: ptx.Local, count: 1, size: uint64(v.Type.Size()), write: true, near: d.near()}
		x.total, x.rows[0] = x.size, d.source(o, v.Type, true)
		d.need(v.Count == 1 && v.Vector == 1)
		d.emit(instr{exec: execStore, mem: x, a: d.constant(d.addrs[v])})
	default:
		d.emit(instr{exec: execMove, d: callee.regs[v.Reg], a: d.source(o, v.Type, false)})
	}
}

// receive moves the callee's result v to where the call wants it.
func (d *decoder) receive(o ptx.Operand, v *ptx.Var, callee *function) {
	switch {
	case o.Kind == ptx.SinkOperand:
	case o.Kind == ptx.VarOperand && v.Reg < 0:
		d.copyLocal(d.local(o), d.addrs[v], v.Size())
	case o.Kind == ptx.VarOperand:
		x := &access{space: ptx.Local, count: 1, size: uint64(v.Type.Size()), write: true, near: d.near()}
		x.total, x.rows[0] = x.size, callee.regs[v.Reg]
		d.emit(instr{exec: execStore, mem: x, a: d.constant(d.local(o))})
	case v.Reg < 0:
		x := &access{space: ptx.Local, count: 1, size: uint64(v.Type.Size()), mask: mask(8), near: d.near()}
		x.total = x.size
		x.rows[0], _ = d.destination(o, v.Type, false)
		d.emit(instr{exec: execLoad, mem: x, a: d.constant(d.addrs[v])})
	default:
		to, _ := d.destination(o, v.Type, false)
		d.emit(instr{exec: execMove, d: to, a: callee.regs[v.Reg]})
	}
}

// local returns the address in local memory of a parameter variable of a call.
func (d *decoder) local(o ptx.Operand) uint64 {
	if o.Var.Space != ptx.Param || d.isEntryParam(o.Var) {
		d.fail("%s is not a parameter of a call", o.Var.Name)
	}
	return d.address(o.Var)
}

func (d *decoder) near() int {
	d.prog.nears++
	return d.prog.nears - 1
}

func (d *decoder) copyLocal(to, from uint64, n int) {
	d.emit(instr{exec: execCopyLocal, d: d.constant(to), a: d.constant(from), imm: uint64(n)})
}

// barrier decodes bar and barrier (section 9.7.13). The older name implies .aligned.
func (d *decoder) barrier() {
	if d.m.has("warp") {
		d.need(d.m.has("sync"))
		if d.args(1, 1) {
			d.emitSync(&syncOp{name: "bar.warp", p: -1, orders: true, perform: func(*exchange) {}}, 0)
		}
		return
	}
	if d.m.has("cluster") {
		d.clusterBarrier()
		return
	}
	d.m.has("cta")
	b := &barOp{aligned: d.m.has("aligned") || d.in.Op == "bar", count: -1, pred: -1}
	switch d.m.oneOf("sync", "arrive", "red") {
	case "sync":
		d.barrierOperands(b, 0, 1, 2)
	case "arrive":
		b.arrive = true
		d.barrierOperands(b, 0, 2, 2)
	case "red":
		d.barrierReduction(b)
	default:
		d.need(false)
	}
}

// barrierOperands decodes "a{, b}" from argument first on.
func (d *decoder) barrierOperands(b *barOp, first, least, most int) {
	if !d.args(least, most) {
		return
	}
	b.id = d.src(first, ptx.U32)
	if len(d.in.Args) > first+1 {
		b.count = d.src(first+1, ptx.U32)
	}
	d.emit(instr{kind: blockBarrier, bar: b})
}

func (d *decoder) barrierReduction(b *barOp) {
	b.reduce = d.m.oneOf("popc", "and", "or")
	t := d.m.typ()
	d.need(b.reduce == "popc" && t == ptx.U32 || b.reduce != "popc" && b.reduce != "" && t == ptx.Pred)
	if !d.args(3, 4) {
		return
	}
	b.pred, b.negate = d.predicate(len(d.in.Args) - 1)
	if t == ptx.Pred {
		b.result = d.predDst(d.arg(0))
	} else {
		b.result = d.dst(0, t)
	}
	b.id = d.src(1, ptx.U32)
	if len(d.in.Args) == 4 {
		b.count = d.src(2, ptx.U32)
	}
	d.emit(instr{kind: blockBarrier, bar: b})
}

// emitSync emits an operation of the threads that the mask, argument i, names.
func (d *decoder) emitSync(s *syncOp, i int) {
	s.members = d.src(i, ptx.B32)
	d.emit(instr{kind: warpSync, sync: s})
}

func (d *decoder) shuffle() {
	d.need(d.m.has("sync"))
	mode := d.m.oneOf("up", "down", "bfly", "idx")
	d.need(mode != "" && d.m.has("b32"))
	if !d.args(5, 5) {
		return
	}
	first, second := d.pair()
	s := &syncOp{name: "shfl." + mode, perform: shuffle(mode)}
	s.d, _ = d.destination(first, ptx.B32, false)
	s.p = d.predDst(second)
	s.a, s.b, s.c = d.src(1, ptx.B32), d.src(2, ptx.B32), d.src(3, ptx.B32)
	d.emitSync(s, 4)
}

func (d *decoder) vote() {
	d.need(d.m.has("sync"))
	mode := d.m.oneOf("all", "any", "uni", "ballot")
	t := d.m.typ()
	d.need(mode != "" && (mode == "ballot") == (t == ptx.B32) && (t == ptx.B32 || t == ptx.Pred))
	if !d.args(3, 3) {
		return
	}
	s := &syncOp{name: "vote." + mode, perform: vote(mode), p: -1}
	if t == ptx.B32 {
		s.d = d.dst(0, t)
	} else {
		s.p = d.predDst(d.arg(0))
	}
	s.pred, s.negate = d.predicate(1)
	d.emitSync(s, 2)
}

func (d *decoder) match() {
	mode := d.m.oneOf("any", "all")
	d.need(mode != "" && d.m.has("sync"))
	t := d.m.typ()
	d.need(t == ptx.B32 || t == ptx.B64)
	if !d.args(3, 3) {
		return
	}
	first, second := d.pair()
	s := &syncOp{name: "match." + mode, perform: match(mode), p: d.predDst(second)}
	s.d, _ = d.destination(first, ptx.B32, false)
	s.a = d.src(1, t)
	d.emitSync(s, 2)
}

func (d *decoder) redux() {
	d.need(d.m.has("sync"))
	op := d.m.oneOf("add", "min", "max", "and", "or", "xor")
	t := d.m.typ()
	f, ok := scalar.Atomic(op, t, false)
	d.need(ok && t.Size() == 4 && t.Class() != ptx.Float)
	if !d.args(3, 3) {
		return
	}
	s := &syncOp{name: "redux." + op + t.String(), perform: reduce(f), p: -1, d: d.dst(0, t), a: d.src(1, t)}
	d.emitSync(s, 2)
}

func (d *decoder) elect() {
	d.need(d.m.has("sync"))
	if !d.args(2, 2) {
		return
	}
	first, second := d.pair()
	s := &syncOp{name: "elect", perform: elect, p: d.predDst(second)}
	s.d, _ = d.destination(first, ptx.B32, false)
	d.emitSync(s, 1)
}
