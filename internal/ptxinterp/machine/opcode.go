package machine

import (
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

// instruction decodes d.in, by the sections of the manual's chapter 9.7.
func (d *decoder) instruction() {
	_ = d.arithmetic() || d.logic() || d.movement() || d.control() || d.synchronisation() || d.unknown()
}

func (d *decoder) unknown() bool {
	d.fail("unknown instruction")
	return true
}

// arithmetic decodes integer and floating-point arithmetic and comparisons.
func (d *decoder) arithmetic() bool {
	switch d.in.Op {
	case "add", "sub", "mul", "div", "rem", "min", "max":
		d.binaryArithmetic()
	case "addc", "subc":
		d.carryArithmetic()
	case "mad", "fma":
		d.multiplyAdd()
	case "neg", "abs":
		d.sign()
	case "mul24":
		d.mul24()
	case "sad":
		t := d.integer()
		d.ternary(scalar.Sad(t), t, [3]ptx.Type{t, t, t})
	case "dp4a":
		ta, tb := d.m.typ(), d.m.typ()
		d.need(ta.Size() == 4 && tb.Size() == 4)
		d.ternary(scalar.Dot4(ta, tb), ptx.B32, [3]ptx.Type{ptx.B32, ptx.B32, ptx.B32})
	case "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh":
		d.function1()
	case "copysign":
		t := d.float()
		d.binary(scalar.Copysign(t), t, t, t)
	case "testp":
		d.testp()
	case "setp":
		d.setp()
	case "set":
		d.set()
	case "selp":
		d.selp()
	case "slct":
		d.slct()
	default:
		return false
	}
	return true
}

// logic decodes logic, shifts and instructions on bits.
func (d *decoder) logic() bool {
	switch d.in.Op {
	case "and", "or", "xor":
		d.bitwise()
	case "not":
		d.not()
	case "cnot":
		t := d.untyped()
		d.unary(scalar.Cnot, t, t)
	case "shl":
		t := d.untyped()
		d.binary(scalar.Shl(t), t, t, ptx.U32)
	case "shr":
		t := d.m.typ()
		d.need(t.Class() != ptx.Float && t.Size() >= 2 && t.Size() <= 8)
		d.binary(scalar.Shr(t), t, t, ptx.U32)
	case "shf":
		d.funnel()
	case "popc":
		d.unary(scalar.Popc, ptx.U32, d.untyped())
	case "clz":
		t := d.untyped()
		d.unary(scalar.Clz(t), ptx.U32, t)
	case "brev":
		t := d.untyped()
		d.unary(scalar.Brev(t), t, t)
	case "bfind":
		shiftamt := d.m.has("shiftamt")
		t := d.integer()
		d.unary(scalar.Bfind(t, shiftamt), ptx.U32, t)
	case "bfe":
		t := d.integer()
		d.ternary(scalar.Bfe(t), t, [3]ptx.Type{t, ptx.U32, ptx.U32})
	case "bfi":
		d.bfi()
	case "bmsk", "szext":
		d.maskOrExtend()
	case "fns":
		d.m.has("b32")
		d.ternary(scalar.Fns, ptx.B32, [3]ptx.Type{ptx.B32, ptx.B32, ptx.S32})
	case "lop3":
		d.lop3()
	case "prmt":
		d.prmt()
	default:
		return false
	}
	return true
}

// movement decodes moves, conversions and accesses to memory.
func (d *decoder) movement() bool {
	switch d.in.Op {
	case "mov":
		d.mov()
	case "cvt":
		d.cvt()
	case "cvta":
		d.cvta()
	case "mapa":
		d.mapa()
	case "isspacep":
		d.isspacep()
	case "ld", "ldu":
		d.load()
	case "st":
		if d.m.has("async") {
			d.send()
		} else {
			d.store()
		}
	case "atom", "red":
		d.atomic()
	case "prefetch", "prefetchu", "applypriority", "discard":
		d.m.left = nil
	default:
		return false
	}
	return true
}

// control decodes what changes the flow of control.
func (d *decoder) control() bool {
	switch d.in.Op {
	case "bra":
		d.branch()
	case "brx":
		d.branchIndexed()
	case "call":
		d.call()
	case "ret":
		d.m.has("uni")
		d.emit(instr{kind: ret, a: d.fn.ret})
	case "exit":
		d.emit(instr{kind: exit})
	case "trap":
		d.emit(instr{kind: trap})
	case "brkpt", "pmevent":
	default:
		return false
	}
	return true
}

// synchronisation decodes barriers, fences and exchanges between the threads of a warp.
func (d *decoder) synchronisation() bool {
	switch d.in.Op {
	case "bar", "barrier":
		d.barrier()
	case "membar", "fence":
		exec := execFence
		if d.m.has("proxy") {
			exec, d.prog.proxies = execProxyFence, true
			d.need(d.m.has("async"))
		}
		d.m.left = nil // memory is sequentially consistent here
		d.emit(instr{exec: exec, fence: true})
	case "griddepcontrol":
		if d.m.oneOf("wait", "launch_dependents") == "wait" {
			d.emit(instr{exec: execAwait})
		}
	case "nanosleep", "setmaxnreg":
		d.m.left = nil
	case "shfl":
		d.shuffle()
	case "vote":
		d.vote()
	case "match":
		d.match()
	case "redux":
		d.redux()
	case "ldmatrix":
		d.loadMatrix()
	case "stmatrix":
		d.storeMatrix()
	case "mma":
		d.mma()
	case "cp":
		d.copyAsync()
	case "mbarrier":
		d.mbarrier()
	case "wgmma":
		d.prog.proxies = true
		d.wgmma()
	case "elect":
		d.elect()
	case "activemask":
		d.m.has("b32")
		if d.args(1, 1) {
			d.emit(instr{exec: execActiveMask, d: d.dst(0, ptx.B32)})
		}
	default:
		return false
	}
	return true
}

// integer takes the type of an instruction on signed or unsigned numbers.
func (d *decoder) integer() ptx.Type {
	t := d.m.typ()
	return d.checked(t, (t.Class() == ptx.Signed || t.Class() == ptx.Unsigned) && t.Size() >= 2)
}

// checked returns t if it is right, and otherwise fails and returns a type that does no harm.
func (d *decoder) checked(t ptx.Type, right bool) ptx.Type {
	d.need(right)
	if !right {
		return ptx.F32
	}
	return t
}

// untyped takes the type of an instruction on bits.
func (d *decoder) untyped() ptx.Type {
	t := d.m.typ()
	return d.checked(t, t.Class() == ptx.Untyped && t.Size() >= 2 && t.Size() <= 8)
}

// float takes the type of an instruction on single or double precision numbers.
func (d *decoder) float() ptx.Type {
	t := d.m.typ()
	return d.checked(t, t == ptx.F32 || t == ptx.F64)
}

// hints takes the modifiers that say how and in which order memory is accessed: here every access is
// sequentially consistent, and there are no caches, but x notes which order the program can rely on, and whether
// it says that other threads access the same memory.
func (d *decoder) hints(x *access) {
	d.m.drop(func(s string) bool {
		switch s {
		case "acquire", "release", "acq_rel", "sc", "relaxed", "volatile", "mmio":
			x.strong, x.polls = true, true
			x.acquire = x.acquire || s == "acquire" || s == "acq_rel" || s == "sc"
			x.release = x.release || s == "release" || s == "acq_rel" || s == "sc"
			return true
		case "weak", "cta", "cluster", "gpu", "sys", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified":
			return true
		}
		return strings.HasPrefix(s, "L1::") || strings.HasPrefix(s, "L2::")
	})
}

// unary emits d = f(a). Destination and source have the given types.
func (d *decoder) unary(f scalar.Unary, to, from ptx.Type) {
	if d.args(2, 2) {
		d.emit(instr{exec: exec1, f1: f, d: d.dst(0, to), a: d.src(1, from)})
	}
}

// binary emits d = f(a, b).
func (d *decoder) binary(f scalar.Binary, to, a, b ptx.Type) {
	if d.args(3, 3) {
		d.emit(instr{exec: fast2(d.in), f2: f, d: d.dst(0, to), a: d.src(1, a), b: d.src(2, b)})
	}
}

// ternary emits d = f(a, b, c).
func (d *decoder) ternary(f scalar.Ternary, to ptx.Type, from [3]ptx.Type) {
	if d.args(4, 4) {
		d.emit(instr{exec: fast3(d.in), f3: f, d: d.dst(0, to), a: d.src(1, from[0]), b: d.src(2, from[1]), c: d.src(3, from[2])})
	}
}
