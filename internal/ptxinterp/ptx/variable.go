package ptx

import "strings"

// Bounds that keep a malformed text from using up the machine's memory.
const (
	maxRegs  = 1 << 20
	maxBytes = 1 << 30
	maxDepth = 200
)

// attributes is what stands before a variable's name.
type attributes struct {
	space  Space
	typ    Type
	vector int
	align  int
}

// attributes reads directives up to the name: space, alignment, vector, type, .ptr.
func (p *parser) attributes(space Space) attributes {
	a := attributes{space: space, vector: 1}
	pointer := false
	for p.err == nil && p.tok.kind == word && p.tok.text[0] == '.' {
		t := p.tok
		p.advance()
		for part := range strings.SplitSeq(t.text[1:], ".") {
			switch typ, isType := ParseType(part); {
			case isType:
				a.typ = typ
			case part == "v2":
				a.vector = 2
			case part == "v4":
				a.vector = 4
			case part == "align" && pointer:
				p.smallInt(maxBytes) // what a parameter points to is not the parameter's alignment
			case part == "align":
				a.align = p.alignment()
			case part == "ptr":
				pointer = true
			case part == "attribute":
				p.skipParentheses()
			default:
				p.space(&a, part, t, pointer)
			}
		}
	}
	if p.err == nil && a.typ == NoType {
		p.fail(p.tok.line, "%s where a type is expected", p.tok)
	}
	if a.align == 0 {
		a.align = max(1, a.typ.Size()*a.vector)
	}
	return a
}

func (p *parser) space(a *attributes, part string, t token, pointer bool) {
	space, ok := ParseSpace(part)
	if !ok {
		p.fail(t.line, "%s is not a directive that is known here", t)
		return
	}
	if !pointer {
		a.space = space
	}
}

func (p *parser) alignment() int {
	line := p.tok.line
	n := p.smallInt(1 << 16)
	if p.err == nil && (n == 0 || n&(n-1) != 0) {
		p.fail(line, "alignment %d is not a power of two", n)
	}
	return n
}

func (p *parser) skipParentheses() {
	p.expect("(")
	for p.err == nil && p.tok.kind != end && p.tok.text != ")" {
		p.advance()
	}
	p.expect(")")
}

// variables reads "ATTRIBUTES name[size] = init, ..." up to the semicolon.
func (p *parser) variables(extern bool) []*Var {
	a := p.attributes(Generic)
	if p.err == nil && a.space == Generic {
		p.fail(p.tok.line, "no state space for %s", p.tok)
	}
	var vs []*Var
	for p.err == nil {
		v := p.variable(a)
		v.Extern = extern
		if p.accept("=") {
			p.initialiser(v)
		}
		if v.Count == 0 && !extern {
			p.fail(v.Line, "variable %s has no size", v.Name)
		}
		vs = append(vs, v)
		if !p.accept(",") {
			break
		}
	}
	return vs
}

// variable reads a name and its dimensions and declares it.
func (p *parser) variable(a attributes) *Var {
	v := &Var{Line: p.tok.line, Space: a.space, Type: a.typ, Vector: a.vector, Count: 1, Align: a.align, Reg: -1}
	v.Name = p.name()
	for p.accept("[") {
		n := 0
		if p.tok.text != "]" {
			n = p.smallInt(maxBytes)
		}
		p.expect("]")
		if v.Count *= n; v.Size() > maxBytes {
			p.fail(v.Line, "variable %s is too large", v.Name)
			v.Count = 0
		}
	}
	p.declare(v.Name, v.Line, symbol{what: VarOperand, v: v})
	return v
}

// initialiser reads "= value" or "= {value, ...}", the braces nested by dimension or not.
func (p *parser) initialiser(v *Var) {
	size := v.Type.Size()
	offset := 0
	depth := 0
	for p.err == nil {
		for p.accept("{") {
			depth++
		}
		if p.tok.text != "}" {
			p.element(v, offset)
			offset += size
		}
		for depth > 0 && p.accept("}") {
			depth--
		}
		if depth == 0 {
			break
		}
		p.expect(",")
	}
	if p.err == nil && v.Count == 0 {
		v.Count = offset / size
	}
	if p.err == nil && offset > v.Size() {
		p.fail(v.Line, "%d bytes of initial values for variable %s of %d", offset, v.Name, v.Size())
	}
}

// element reads one initial value: a constant, or an address: sym, sym+4, generic(sym).
func (p *parser) element(v *Var, offset int) {
	in := Init{Offset: offset, Size: v.Type.Size(), Line: p.tok.line}
	if p.tok.kind == word {
		name := p.name()
		if name == "generic" && p.accept("(") {
			name = p.name()
			p.expect(")")
		}
		in.Symbol = name
		if p.tok.text == "+" || p.tok.text == "-" {
			in.Bits = p.constant().Bits
		}
	} else {
		in.Bits = p.convert(p.constant(), v.Type, in.Line)
	}
	v.Init = append(v.Init, in)
}

// convert returns the bits of a literal as a value of type t.
func (p *parser) convert(o Operand, t Type, line int) uint64 {
	bits, ok := o.As(t)
	if !ok {
		p.fail(line, "a literal that is not a %v", t)
	}
	return bits
}

// registers reads ".reg .b32 %r<10>, x;".
func (p *parser) registers() {
	a := p.attributes(Register)
	if a.vector != 1 {
		p.fail(p.tok.line, "registers of a vector type are not supported")
	}
	for p.err == nil {
		line := p.tok.line
		name := p.name()
		if p.accept("<") {
			n := p.smallInt(maxRegs)
			p.expect(">")
			p.registerRange(name, n, a.typ, line)
		} else {
			p.declare(name, line, symbol{what: RegOperand, index: p.register(name, a.typ, line)})
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
}

func (p *parser) registerRange(name string, n int, t Type, line int) {
	if _, taken := p.scope.ranges[name]; taken {
		p.fail(line, "%s<%d> is declared twice", name, n)
		return
	}
	p.scope.ranges[name] = regRange{len(p.fn.Regs), n}
	for range n {
		if p.err != nil {
			return
		}
		p.register(name, t, line)
	}
}

// register adds a register to the function; one of a range gets its number from its place.
func (p *parser) register(name string, t Type, line int) int {
	if len(p.fn.Regs) >= maxRegs {
		p.fail(line, "more than %d registers", maxRegs)
		return 0
	}
	p.fn.Regs = append(p.fn.Regs, Reg{name, t})
	return len(p.fn.Regs) - 1
}
