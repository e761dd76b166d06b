package ptx

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// emitted returns the values of b that threads compute. The condition of a block that the launcher runs is a parameter.
func (s *selector) emitted(b *ir.Block) []*ir.Value {
	if !b.Launch {
		return b.Values
	}
	n := len(b.Values)
	passed := s.param(b32, ".u32", int64(s.f.ParamBytes)+driver.CoarseBytes)
	s.vals[b.Values[n-2].ID] = s.def(pred, "setp.ne.u32", passed, imm(0))
	return b.Values[n-1:]
}

// testLetters are the letters of instructions for 64 bits, and for conditions.
var testLetters = map[ir.Op]byte{
	ir.OpAdd: 'a', ir.OpSub: 's', ir.OpMul: 'm', ir.OpShl: 'l', ir.OpLShr: 'r', ir.OpAnd: '&', ir.OpOr: '|', ir.OpXor: '^',
	ir.OpEq: 'e', ir.OpNe: 'n', ir.OpULt: 'u', ir.OpULe: 'v', ir.OpSLt: 'i', ir.OpSLe: 'j', ir.OpSelect: '?', ir.OpTrunc: 't',
}

// testLetters32 are the letters of instructions that differ for 32 bits.
var testLetters32 = map[ir.Op]byte{
	ir.OpAdd: 'A', ir.OpSub: 'S', ir.OpMul: 'M', ir.OpShl: 'L', ir.OpSLt: 'I', ir.OpSLe: 'J', ir.OpSExt: 'x',
}

// launchTest encodes a block that the launcher runs; that of another block is empty.
func launchTest(b *ir.Block) driver.LaunchTest {
	if !b.Launch {
		return ""
	}
	e := &testEncoder{places: map[*ir.Value]byte{}}
	for _, v := range b.Values[:len(b.Values)-1] {
		e.operand(v)
	}
	return driver.LaunchTest(e.text)
}

type testEncoder struct {
	text   []byte
	places map[*ir.Value]byte // operands
	n      int
}

// operand returns the operand that v is, which it computes first.
func (e *testEncoder) operand(v *ir.Value) byte {
	if p, ok := e.places[v]; ok {
		return p
	}
	if v.Op == ir.OpZExt || v.Op == ir.OpBitcast { // the upper half is zero anyway; an address is a number
		e.places[v] = e.operand(v.Args[0])
		return e.places[v]
	}
	e.text = append(e.text, e.instruction(v)...)
	e.places[v] = driver.TestOperand(e.n)
	if e.n++; e.n > driver.MaxLaunchTest {
		panic("BUG: ptx: a test of launches is too long")
	}
	return e.places[v]
}

// instruction returns the instruction that computes v, after it has computed the operands.
func (e *testEncoder) instruction(v *ir.Value) []byte {
	short := v.Type.Kind == ir.KindI32
	switch v.Op {
	case ir.OpConst:
		n := v.Imm
		if short {
			n = int64(uint32(n))
		} else if v.Type.Kind == ir.KindI1 {
			n &= 1
		}
		return fmt.Appendf(nil, "=%d;", n)
	case ir.OpParam:
		if short {
			return fmt.Appendf(nil, "P%d;", v.Imm)
		}
		return fmt.Appendf(nil, "p%d;", v.Imm)
	case ir.OpNCtaid:
		return []byte{'g', driver.TestOperand(int(v.Imm))}
	case ir.OpNTid:
		return []byte{'b', driver.TestOperand(int(v.Imm))}
	}
	letter := testLetters[v.Op]
	if l, ok := testLetters32[v.Op]; ok && v.Args[0].Type.Kind == ir.KindI32 {
		letter = l
	}
	out := []byte{letter}
	for _, a := range v.Args {
		out = append(out, e.operand(a))
	}
	return out
}
