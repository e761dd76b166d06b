package ptx

import (
	"math"
	"strconv"
	"strings"
)

// As returns the bits of a literal operand as a value of type t. It reports false if the operand is
// not such a literal. It does not convert integer literals to floats, but converts floating-point
// literals of either size.
func (o Operand) As(t Type) (uint64, bool) {
	switch {
	case o.Kind == IntOperand && t.Class() != Float:
		return o.Bits, true
	case o.Kind == F32Operand && t == F32 || o.Kind == F64Operand && t == F64:
		return o.Bits, true
	case o.Kind == F32Operand && t == F64:
		return math.Float64bits(float64(math.Float32frombits(uint32(o.Bits)))), true
	case o.Kind == F64Operand && t == F32:
		return uint64(math.Float32bits(float32(math.Float64frombits(o.Bits)))), true
	case o.Kind == F32Operand && t.Class() == Untyped && t.Size() == 4:
		return o.Bits, true
	case o.Kind == F64Operand && t.Class() == Untyped && t.Size() == 8:
		return o.Bits, true
	}
	return 0, false
}

// level returns how strongly a binary operator of constant expressions binds (section 4.5.4), or 0 if the
// token is none. The remainder is missing: a percent sign starts a register; and "<" and ">" are those of a
// register range.
func (t token) level() int {
	if t.kind != punct {
		return 0
	}
	switch t.text {
	case "||":
		return 1
	case "&&":
		return 2
	case "|":
		return 3
	case "^":
		return 4
	case "&":
		return 5
	case "==", "!=":
		return 6
	case "<=", ">=":
		return 7
	case "<<", ">>":
		return 8
	case "+", "-":
		return 9
	case "*", "/":
		return 10
	}
	return 0
}

// constant reads a literal or a constant expression. Integers are 64 bits and signed unless a
// U follows; this reader treats all as signed except in how they are written.
func (p *parser) constant() Operand { return p.binary(1, 0) }

// binary reads operands and the operators between them that bind at least as strongly as the level.
func (p *parser) binary(least, depth int) Operand {
	o := p.unary(depth)
	for p.err == nil {
		op, line, level := p.tok.text, p.tok.line, p.tok.level()
		if level == 0 || level < least {
			break
		}
		p.advance()
		b := p.binary(level+1, depth)
		if p.err == nil && (o.Kind != IntOperand || b.Kind != IntOperand) {
			p.fail(line, "operator %s on something other than integers", op)
		}
		v, ok := fold(op, int64(o.Bits), int64(b.Bits))
		if !ok {
			p.fail(line, "division by zero")
		}
		o = Operand{Kind: IntOperand, Bits: uint64(v)}
	}
	return o
}

func fold(op string, a, b int64) (int64, bool) {
	switch op {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	case "/":
		if b == 0 {
			return 0, false
		}
		return a / b, true
	case "<<":
		return a << min(64, uint64(b)), true
	case ">>":
		return a >> min(64, uint64(b)), true
	case "&":
		return a & b, true
	case "|":
		return a | b, true
	case "^":
		return a ^ b, true
	}
	return truth(compare(op, a, b)), true
}

func compare(op string, a, b int64) bool {
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<=":
		return a <= b
	case ">=":
		return a >= b
	case "&&":
		return a != 0 && b != 0
	case "||":
		return a != 0 || b != 0
	}
	panic("BUG: operator " + op)
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (p *parser) unary(depth int) Operand {
	t := p.tok
	if depth > maxDepth {
		p.fail(t.line, "expression is nested too deeply")
		return Operand{}
	}
	switch {
	case p.accept("-"):
		return p.negate(p.unary(depth+1), t.line)
	case p.accept("+"):
		return p.unary(depth + 1)
	case p.accept("~"):
		o := p.unary(depth + 1)
		if o.Kind != IntOperand {
			p.fail(t.line, "~ on something other than an integer")
		}
		o.Bits = ^o.Bits
		return o
	case p.accept("("):
		o := p.binary(1, depth+1)
		p.expect(")")
		return o
	case t.kind == number:
		p.advance()
		return p.literal(t)
	}
	p.fail(t.line, "%s where a constant is expected", t)
	return Operand{}
}

func (p *parser) negate(o Operand, line int) Operand {
	switch o.Kind {
	case IntOperand:
		o.Bits = -o.Bits
	case F32Operand:
		o.Bits ^= 1 << 31
	case F64Operand:
		o.Bits ^= 1 << 63
	default:
		p.fail(line, "- on something other than a number")
	}
	return o
}

// literal reads a number (sections 4.5.1 and 4.5.2).
func (p *parser) literal(t token) Operand {
	s := strings.ToLower(t.text)
	if digits, ok := strings.CutPrefix(s, "0f"); ok {
		return p.hexFloat(t, digits, 8, F32Operand)
	}
	if digits, ok := strings.CutPrefix(s, "0d"); ok {
		return p.hexFloat(t, digits, 16, F64Operand)
	}
	hex := strings.HasPrefix(s, "0x")
	if !hex && strings.ContainsAny(s, ".e") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || strings.ContainsAny(s, "xpin") {
			p.fail(t.line, "%s is not a number", t)
		}
		return Operand{Kind: F64Operand, Bits: math.Float64bits(f)}
	}
	v, err := strconv.ParseUint(strings.TrimSuffix(s, "u"), 0, 64)
	if err != nil {
		p.fail(t.line, "%s is not a number", t)
	}
	return Operand{Kind: IntOperand, Bits: v}
}

func (p *parser) hexFloat(t token, digits string, n int, k OperandKind) Operand {
	v, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || len(digits) != n {
		p.fail(t.line, "%s is not a number of %d hexadecimal digits", t, n)
	}
	return Operand{Kind: k, Bits: v}
}
