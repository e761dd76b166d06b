package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// isUnknown reports whether a call of fn stands for something unknown, because a build has the body and this one does not.
func (l *lowerer) isUnknown(fn *ssa.Function) bool {
	if l.b.partial == nil || len(fn.Blocks) > 0 || foreignLack(fn, l.fn) != nil {
		return false
	}
	pkg := packageOf(fn)
	return pkg == nil || !inStandardLibrary(fn) || l.b.partial(pkg.Path())
}

// unknownCall stands for a call of a function without a body, see Kernel.Partial. One that takes a thread may
// wait for others.
func (l *lowerer) unknownCall(fn *ssa.Function) *ir.Value {
	s := fn.Signature
	waits := s.Recv() != nil && isThread(s.Recv().Type())
	for p := range s.Params().Variables() {
		waits = waits || isThread(p.Type())
	}
	if waits {
		l.emit(ir.OpWarpBarrier, ir.Void)
	}
	switch t := s.Results(); t.Len() {
	case 0:
		return nil
	case 1:
		return l.unknown(l.irType(t.At(0).Type()))
	default:
		return l.unknown(l.irType(t))
	}
}

// unknown returns a value of which nothing is known, another one in each thread.
func (l *lowerer) unknown(t *ir.Type) *ir.Value {
	address := l.emit(ir.OpBitcast, ir.Ptr, l.emit(ir.OpClock, ir.I64))
	return l.emit(ir.OpLoad, t, address)
}
