package frontend

import (
	"fmt"
	"go/token"
	"path/filepath"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// lowerer lowers one function.
//
// A construct that is refused ends the lowering of its instruction by a panic with refused{},
// which guard recovers; the instruction's value is then missing, and what uses it
// is dropped in silence. So each mistake is reported once and all of them in one build. The
// function is then broken and Build returns no good module.
type lowerer struct {
	b     *builder
	u     *unit
	fn    *ssa.Function
	f     *ir.Func
	frame *frame          // of a function that is inlined; else nil
	block *ssa.BasicBlock // the one that is lowered
	in    ssa.Instruction // likewise
	cur   *ir.Block       // where values are appended
	at    token.Pos       // of the instruction that is lowered, or of one before it
	pos   ir.Pos          // of at
	found diag.List
	// gaveUp is set where something was refused, perhaps in a function that is called.
	gaveUp  bool
	foreign bool // the function is of the standard library

	values  map[ssa.Value]*ir.Value
	missing map[ssa.Value]bool
	skip    map[ssa.Instruction]bool // parts of a Printf's argument list
	blocks  map[*ssa.BasicBlock]*span
	consts  map[constKey]*ir.Value
	head    []*ir.Value // goes to the front of the entry: constants, variables
	rounded map[token.Pos]bool
	live    blockSet                // the blocks that are reached, see liveBlocks
	loops   blockSet                // the blocks that can reach themselves
	spilled map[ssa.Value]*ir.Value // the addresses of arrays that are indexed by a value
	funcs   map[member]*closure     // functions that calls returned
	ranges  map[ssa.Value]runes     // over strings
	defers  []*deferred
}

// span is what became of a basic block: the IR block that its predecessors enter, and for each of its
// successors the one that leads there, or nil.
type span struct {
	first *ir.Block
	exits []*ir.Block
}

type constKey struct {
	kind ir.Kind
	bits int64
}

type refused struct{}

func newLowerer(b *builder, u *unit) *lowerer {
	return &lowerer{
		b: b, u: u, fn: u.fn,
		values: map[ssa.Value]*ir.Value{}, missing: map[ssa.Value]bool{}, skip: map[ssa.Instruction]bool{}, spilled: map[ssa.Value]*ir.Value{},
		blocks: map[*ssa.BasicBlock]*span{}, consts: map[constKey]*ir.Value{}, funcs: map[member]*closure{}, ranges: map[ssa.Value]runes{},
		foreign: inStandardLibrary(u.fn),
		rounded: roundedProducts(u), loops: inLoops(u.fn), live: liveBlocks(u.fn),
	}
}

// guard calls f. Where f refuses something, the value in, if any, is missing.
func (l *lowerer) guard(in ssa.Instruction, f func()) {
	defer func() {
		switch r := recover(); r {
		case nil:
		case refused{}:
			l.gaveUp = true
			if v, ok := in.(ssa.Value); ok {
				l.missing[v] = true
			}
		default:
			panic(r)
		}
	}()
	f()
}

// refuse reports a diagnostic at the current position and gives the instruction up.
func (l *lowerer) refuse(code diag.Code, help, format string, args ...any) {
	l.report(diag.New(l.fn.Prog.Fset.Position(l.at), code, format, args...).WithHelp("%s", help))
	panic(refused{})
}

// report adds d. In the standard library it is the reason why the function cannot be
// called, which is shown where the user's program calls it.
func (l *lowerer) report(d diag.Diagnostic) {
	if !inStandardLibrary(l.fn) {
		l.found.Add(d)
		return
	}
	if l.u.problem == "" {
		l.u.problem = fmt.Sprintf("%s (%s:%d)", d.Message, filepath.Base(d.Pos.Filename), d.Pos.Line)
	}
}

func (l *lowerer) lacks(k *lack) {
	l.refuse(k.code, k.help, "a kernel cannot use %s", k.what)
}

// moveTo makes p the position of what is emitted next, unless it is unknown.
func (l *lowerer) moveTo(p token.Pos) {
	if !p.IsValid() || p == l.at {
		return
	}
	l.at = p
	at := l.fn.Prog.Fset.Position(p)
	l.pos = ir.Pos{File: filepath.Base(at.Filename), Line: at.Line, Col: at.Column}
}

// emit appends a value to the current block.
func (l *lowerer) emit(op ir.Op, t *ir.Type, args ...*ir.Value) *ir.Value {
	v := l.cur.Append(op, t, args...)
	v.Pos = l.pos
	if l.foreign && (op == ir.OpCheck || op == ir.OpFault || op == ir.OpCall) {
		v.Pos = l.calledAt()
	}
	return v
}

// calledAt returns where the user's program called the function of the standard library that is
// lowered: what faults in it is the caller's doing. It is empty if that is known only
// when a pass inlines the function.
func (l *lowerer) calledAt() ir.Pos {
	for l.foreign && l.frame != nil {
		l = l.frame.outer
	}
	if l.foreign {
		return ir.Pos{}
	}
	return l.pos
}

// emitImm is emit with an immediate.
func (l *lowerer) emitImm(op ir.Op, t *ir.Type, imm int64, args ...*ir.Value) *ir.Value {
	v := l.emit(op, t, args...)
	v.Imm = imm
	return v
}

// emitAux is emit with what the operation names.
func (l *lowerer) emitAux(op ir.Op, t *ir.Type, aux any, args ...*ir.Value) *ir.Value {
	v := l.emit(op, t, args...)
	v.Aux = aux
	return v
}

// emitHead makes a value at the front of the entry.
func (l *lowerer) emitHead(op ir.Op, t *ir.Type) *ir.Value {
	v := l.f.Blocks[0].Make(op, t)
	v.Pos = l.pos
	root := l.root()
	root.head = append(root.head, v)
	return v
}

// constant returns the constant with the given bits, extended by their sign.
func (l *lowerer) constant(t *ir.Type, bits int64) *ir.Value {
	key := constKey{t.Kind, bits}
	if v := l.consts[key]; v != nil {
		return v
	}
	v := l.emitHead(ir.OpConst, t)
	v.Imm, v.Pos = bits, ir.Pos{}
	l.consts[key] = v
	return v
}

func (l *lowerer) int64(n int64) *ir.Value { return l.constant(ir.I64, n) }

// jump ends the current block.
func (l *lowerer) jump(to *ir.Block) {
	l.emit(ir.OpJump, ir.Void)
	l.cur.AddEdge(to)
}

// variable returns the address of a new variable of the thread in the entry.
func (l *lowerer) variable(t *ir.Type) *ir.Value {
	v := l.emitHead(ir.OpAlloca, ir.Ptr)
	v.Aux = t
	return v
}
