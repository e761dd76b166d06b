package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const printName = gpuPath + ".Printf"

// findLists finds the instructions that build the lists of arguments of variadic intrinsics, such
// as gpu.Printf: a variable of type [n]any, an address and a store for each argument, a
// slice. They are not lowered.
func (l *lowerer) findLists() {
	for _, b := range l.fn.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			fn := call.Call.StaticCallee()
			if fn == nil || !fn.Signature.Variadic() || intrinsicOf(fn) == nil {
				continue
			}
			if parts, _, ok := variadic(call.Call.Args[len(call.Call.Args)-1]); ok {
				for _, p := range parts {
					l.skip[p] = true
				}
			}
		}
	}
}

// variadic takes an argument list apart: the instructions that build it, and the
// arguments. It reports false for a slice that was made otherwise.
func variadic(v ssa.Value) (parts []ssa.Instruction, args []ssa.Value, ok bool) {
	if c, ok := v.(*ssa.Const); ok {
		return nil, nil, c.IsNil()
	}
	s, ok := v.(*ssa.Slice)
	if !ok {
		return nil, nil, false
	}
	list, ok := s.X.(*ssa.Alloc)
	if !ok || list.Comment != "varargs" {
		return nil, nil, false
	}
	parts = []ssa.Instruction{s, list}
	for _, r := range *list.Referrers() {
		at, ok := r.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		parts = append(parts, at)
		for _, r := range *at.Referrers() {
			store, ok := r.(*ssa.Store)
			if !ok {
				return nil, nil, false
			}
			parts = append(parts, store)
			args = append(args, store.Val)
		}
	}
	return parts, args, true
}

func printf(l *lowerer, v *ssa.Call) *ir.Value {
	format, ok := constString(v.Call.Args[1])
	if !ok {
		l.refuse(diag.LangPrint, "write the format as a constant", "gpu.Printf: the format is not constant")
	}
	_, boxed, ok := variadic(v.Call.Args[2])
	if !ok {
		l.refuse(diag.LangPrint, "pass the arguments one by one", "gpu.Printf: the arguments are in a slice")
	}
	m := l.message("gpu.Printf", format, boxed)
	return l.emitAux(ir.OpPrint, ir.Void, &ir.Site{Format: m.format, Args: m.types}, l.operands(m.args)...)
}

// prints lowers one of the two built-in functions, which print as gpu.Printf does with %v: floats as the runtime
// of Go 1.26 shows them. Methods count for nothing.
func (l *lowerer) prints(name string, args []ssa.Value) *ir.Value {
	space, end := "", ""
	if name == "println" {
		space, end = " ", "\n"
	}
	var m message
	for i, a := range args {
		if i > 0 {
			m.format += space
		}
		if problem := m.addPlain(a); problem != "" {
			l.refuse(diag.LangPrint, "print numbers, booleans and constant strings", "%s: %s", name, problem)
		}
	}
	if len(m.args) > driver.MaxSiteArgs {
		l.refuse(diag.LangPrint, "split it into several calls", "%s: %d arguments; at most %d are allowed", name, len(m.args), driver.MaxSiteArgs)
	}
	return l.emitAux(ir.OpPrint, ir.Void, &ir.Site{Format: m.format + end, Args: m.types}, l.operands(m.args)...)
}

// message checks a format with its arguments, which are interface values.
func (l *lowerer) message(what, format string, boxed []ssa.Value) message {
	var args []ssa.Value
	for _, b := range boxed {
		m, ok := b.(*ssa.MakeInterface)
		if !ok {
			l.value(b)
			l.lacks(&lackInterface)
		}
		args = append(args, m.X)
	}
	m, problem := formatted(format, args)
	if problem == "" && len(m.args) > driver.MaxSiteArgs {
		l.refuse(diag.LangPrint, "split it into several calls", "%s: %d arguments; at most %d are allowed", what, len(m.args), driver.MaxSiteArgs)
	}
	if problem != "" {
		l.refuse(diag.LangPrint, "see the documentation of gpu.Printf", "%s: %s", what, problem)
	}
	return m
}

// panics lowers panic: of a constant string, or of a number.
func (l *lowerer) panics(in *ssa.Panic) {
	if message := runtimeError(in.X); message != "" {
		l.emitAux(ir.OpFault, ir.Void, &ir.Site{Format: message})
		return
	}
	x, ok := in.X.(*ssa.MakeInterface)
	if !ok {
		l.refuse(diag.LangPanic, "panic with a constant string", "panic with a value that is not a constant string, a number or a boolean")
	}
	if _, constant := constString(x.X); !constant && isString(x.X.Type()) {
		l.refuse(diag.LangPanic, "panic with a constant string", "panic with a string that is not constant")
	}
	m := l.message("panic", "%v", []ssa.Value{x})
	l.emitAux(ir.OpFault, ir.Void, &ir.Site{Format: m.format, Args: m.types}, l.operands(m.args)...)
}

// runtimeError returns the message of an error of Go's runtime that package math/bits panics with, or "".
func runtimeError(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.ChangeInterface:
		return runtimeError(v.X)
	case *ssa.UnOp:
		return runtimeError(v.X)
	case *ssa.Global:
		return map[string]string{
			"math/bits.overflowError": "integer overflow",
			"math/bits.divideError":   "integer divide by zero",
		}[v.String()]
	}
	return ""
}

// assert lowers gpu.Assert to a check.
func assert(l *lowerer, v *ssa.Call) *ir.Value {
	message, ok := constString(v.Call.Args[1])
	if !ok {
		l.refuse(diag.LangPanic, "write the message as a constant", "gpu.Assert: the message is not constant")
	}
	l.assert(l.value(v.Call.Args[0]), quoteFormat("assertion failed: "+message))
	return nil
}
