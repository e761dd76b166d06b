package ptx

import "strings"

// instruction reads a label or "@p op.mods args;".
func (p *parser) instruction() {
	line := p.tok.line
	guard := Guard{Reg: -1}
	if p.accept("@") {
		guard = p.guard()
	}
	t := p.tok
	if t.kind != word {
		p.fail(t.line, "%s where an instruction is expected", t)
		return
	}
	p.advance()
	if guard.Reg < 0 && p.accept(":") {
		p.label(t)
		return
	}
	op, mods := p.split(t.text)
	index := len(p.fn.Code)
	p.fn.Code = append(p.fn.Code, Instr{Line: line, Loc: p.loc, Guard: guard, Name: t.text, Op: op, Mods: mods})
	var few [4]Operand
	args := few[:0]
	for p.err == nil && p.tok.text != ";" {
		args = append(args, p.argument(index, len(args)))
		if !p.accept(",") {
			break
		}
	}
	p.fn.Code[index].Args = p.lists.keep(args)
	p.expect(";")
}

// split takes an instruction's name apart at its dots.
func (p *parser) split(name string) (op string, mods []string) {
	var few [8]string
	parts := few[:0]
	op, rest, more := strings.Cut(name, ".")
	for more {
		var mod string
		mod, rest, more = strings.Cut(rest, ".")
		parts = append(parts, mod)
	}
	return op, p.mods.keep(parts)
}

func (p *parser) guard() Guard {
	g := Guard{Negate: p.accept("!")}
	t := p.tok
	sym, ok := p.lookup(p.name())
	if p.err == nil && (!ok || sym.what != RegOperand || p.fn.Regs[sym.index].Type != Pred) {
		p.fail(t.line, "%s is not a predicate register", t)
		return g
	}
	g.Reg = sym.index
	return g
}

// label declares the label t, or the table that it names.
func (p *parser) label(t token) {
	if strings.ContainsAny(t.text, ".:") {
		p.fail(t.line, "%s is not a label", t)
		return
	}
	switch {
	case p.accept(".branchtargets"):
		p.table(t)
	case p.tok.text == ".callprototype" || p.tok.text == ".calltargets":
		p.fail(t.line, "indirect calls are not supported")
	default:
		p.declare(t.text, t.line, symbol{what: LabelOperand, index: len(p.fn.Code)})
	}
}

// table reads the labels of a .branchtargets directive.
func (p *parser) table(t token) {
	index := len(p.fn.Tables)
	p.fn.Tables = append(p.fn.Tables, Table{Name: t.text, Line: t.line})
	p.declare(t.text, t.line, symbol{what: TableOperand, index: index})
	for p.err == nil {
		n := len(p.fn.Tables[index].Targets)
		line := p.tok.line
		name := p.name()
		p.fn.Tables[index].Targets = append(p.fn.Tables[index].Targets, -1)
		p.scope.open = append(p.scope.open, openName{name: name, line: line, instr: -1, table: index, target: n})
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
}

// argument reads an operand of an instruction. A name that is neither register nor variable is
// a label or a function: where it stands (instruction, argument) is kept until that is known.
func (p *parser) argument(instr, arg int) Operand {
	t := p.tok
	if t.kind == word && p.undeclared(t.text) {
		p.advance()
		p.scope.open = append(p.scope.open, openName{name: t.text, line: t.line, instr: instr, arg: arg})
		return Operand{Kind: FuncOperand, Name: t.text}
	}
	return p.operand(0)
}

// undeclared reports whether the name could be a label or a function.
func (p *parser) undeclared(name string) bool {
	if name == "_" || name == "WARP_SZ" || name[0] == '%' || strings.ContainsAny(name, ".:") {
		return false
	}
	sym, ok := p.lookup(name)
	return !ok || sym.what == LabelOperand || sym.what == TableOperand
}

// operand reads one operand (section 6).
func (p *parser) operand(depth int) Operand {
	t := p.tok
	if depth > maxDepth {
		p.fail(t.line, "operands are nested too deeply")
		return Operand{}
	}
	switch {
	case p.accept("["):
		return p.address()
	case p.accept("{"):
		return Operand{Kind: VectorOperand, Elems: p.operands("}", depth)}
	case t.text == "(" && p.isList():
		p.advance()
		return Operand{Kind: ListOperand, Elems: p.operands(")", depth)}
	case p.accept("!"):
		o := p.operand(depth + 1)
		o.Negate = !o.Negate
		return o
	case t.kind == word:
		return p.named(depth)
	default:
		return p.constant()
	}
}

// isList reports whether a parenthesis starts a list of names rather than an expression.
func (p *parser) isList() bool {
	ahead := p.lex
	t := ahead.next()
	return t.kind == word || t.text == ")" || p.fn.Code[len(p.fn.Code)-1].Op == "call"
}

// operands reads a list up to the closing token.
func (p *parser) operands(closing string, depth int) []Operand {
	var few [4]Operand
	list := few[:0]
	for p.err == nil && p.tok.text != closing {
		list = append(list, p.operand(depth+1))
		if !p.accept(",") {
			break
		}
	}
	p.expect(closing)
	return p.lists.keep(list)
}

// named reads an operand that starts with a name: a register, a special register, a
// variable with an offset, a sink; then perhaps "|" and a second one.
func (p *parser) named(depth int) Operand {
	o := p.single()
	if p.tok.text != "|" || p.err != nil {
		return o
	}
	p.advance()
	return Operand{Kind: PairOperand, Elems: p.lists.keep([]Operand{o, p.operand(depth + 1)})}
}

func (p *parser) single() Operand {
	t := p.tok
	p.advance()
	if t.text == "_" {
		return Operand{Kind: SinkOperand}
	}
	if t.text == "WARP_SZ" {
		return Operand{Kind: IntOperand, Bits: 32}
	}
	sym, ok := p.lookup(t.text)
	switch {
	case ok && sym.what == RegOperand:
		return Operand{Kind: RegOperand, Reg: sym.index, Name: t.text}
	case ok && sym.what == VarOperand:
		return Operand{Kind: VarOperand, Var: sym.v, Bits: p.offset()}
	case t.text[0] == '%': // whoever executes it knows which ones exist
		return Operand{Kind: SpecialOperand, Name: t.text}
	}
	p.fail(t.line, "undeclared name %s", t.text)
	return Operand{}
}

// offset reads "+4" or "-4" after a name; 0 if there is none.
func (p *parser) offset() uint64 {
	switch p.tok.text {
	case "-":
		return p.constantInt()
	case "+":
		p.advance()
		return p.constantInt()
	}
	return 0
}

func (p *parser) constantInt() uint64 {
	line := p.tok.line
	o := p.constant()
	if p.err == nil && o.Kind != IntOperand {
		p.fail(line, "an integer is expected")
	}
	return o.Bits
}

// address reads what stands between brackets: a base, and an offset in bytes.
func (p *parser) address() Operand {
	o := Operand{Kind: AddressOperand}
	var elems [2]Operand
	list := elems[:1]
	if p.tok.kind == word {
		base := p.single()
		if base.Kind == VarOperand {
			o.Bits, base.Bits = base.Bits, 0
		} else {
			o.Bits = p.offset()
		}
		list[0] = base
	} else {
		list[0] = Operand{Kind: IntOperand, Bits: p.constantInt()}
	}
	if p.accept(",") { // coordinates
		list = append(list, p.operand(0))
	}
	o.Elems = p.lists.keep(list)
	p.expect("]")
	return o
}
