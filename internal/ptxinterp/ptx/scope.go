package ptx

// symbol is what a name means: a register, a variable, a label or a table.
type symbol struct {
	what  OperandKind // RegOperand, VarOperand, LabelOperand, TableOperand
	index int
	v     *Var
}

// regRange is what ".reg .b32 %r<100>" declares: count registers from first on.
type regRange struct{ first, count int }

// scope is a pair of braces, or the module.
type scope struct {
	outer  *scope
	names  map[string]symbol
	ranges map[string]regRange
	open   []openName // names that were used before any label of that name was seen
}

// openName is a use that the end of a scope may resolve. The operand is found by indices,
// because slices of operands move while they grow.
type openName struct {
	name   string
	line   int
	instr  int // in Func.Code; -1 for an entry of a table
	arg    int
	table  int
	target int
}

func (p *parser) push() {
	p.scope = &scope{outer: p.scope, names: map[string]symbol{}, ranges: map[string]regRange{}}
}

// pop leaves a scope: uses of its labels are resolved, others are handed outward.
func (p *parser) pop() {
	s := p.scope
	p.scope = s.outer
	for _, o := range s.open {
		switch sym, ok := s.names[o.name]; {
		case ok && (sym.what == LabelOperand || sym.what == TableOperand):
			p.resolve(o, sym)
		case p.scope.outer != nil:
			p.scope.open = append(p.scope.open, o)
		case o.instr >= 0: // the function ends: what is left may name a function
			p.fn.Code[o.instr].Args[o.arg] = Operand{Kind: FuncOperand, Name: o.name}
		default:
			p.fail(o.line, "undeclared label %s", o.name)
		}
	}
}

func (p *parser) resolve(o openName, sym symbol) {
	if o.instr < 0 {
		p.fn.Tables[o.table].Targets[o.target] = sym.index
		return
	}
	p.fn.Code[o.instr].Args[o.arg] = Operand{Kind: sym.what, Target: sym.index, Name: o.name}
}

// declare gives a name a meaning in the innermost scope.
func (p *parser) declare(name string, line int, s symbol) {
	if _, taken := p.scope.names[name]; taken {
		p.fail(line, "%s is declared twice", name)
		return
	}
	p.scope.names[name] = s
}

// lookup finds a register or a variable.
func (p *parser) lookup(name string) (symbol, bool) {
	base, index := splitIndex(name)
	for s := p.scope; s != nil; s = s.outer {
		if sym, ok := s.names[name]; ok {
			return sym, true
		}
		if r, ok := s.ranges[base]; ok && index >= 0 && index < r.count {
			return symbol{what: RegOperand, index: r.first + index}, true
		}
	}
	return symbol{}, false
}

// splitIndex takes "%r12" apart into "%r" and 12; the index is -1 where there is none.
func splitIndex(name string) (string, int) {
	end := len(name)
	for end > 0 && isDigit(name[end-1]) {
		end--
	}
	base, digits := name[:end], name[end:]
	if digits == "" || len(digits) > 7 || digits[0] == '0' && len(digits) > 1 {
		return name, -1
	}
	n := 0
	for _, d := range []byte(digits) {
		n = 10*n + int(d-'0')
	}
	return base, n
}
