package ptx

import "strings"

// function reads .entry or .func with its parameters, directives and body (section 11.1).
func (p *parser) function() {
	n := len(p.code)
	f := &Func{Line: p.tok.line, Entry: p.tok.text == ".entry", Code: p.code[n:]}
	p.fn, p.loc = f, Loc{}
	p.advance()
	p.push()
	if !f.Entry && p.tok.text == "(" {
		f.Returns = p.parameters()
	}
	f.Name = p.name()
	if p.tok.text == "(" {
		f.Params = p.parameters()
	}
	p.performance()
	if p.accept(";") {
		f.Declared = true
	} else {
		p.body()
	}
	p.pop()
	p.code = append(p.code, f.Code...) // which lie there
	f.Code = p.code[n:len(p.code):len(p.code)]
	p.addFunc(f)
	p.fn = nil
}

// addFunc adds f; a definition takes the place of declarations.
func (p *parser) addFunc(f *Func) {
	for i, g := range p.mod.Funcs {
		if g.Name != f.Name {
			continue
		}
		switch {
		case g.Declared:
			p.mod.Funcs[i] = f
		case !f.Declared:
			p.fail(f.Line, "%s is defined twice", f.Name)
		}
		return
	}
	p.mod.Funcs = append(p.mod.Funcs, f)
}

func (p *parser) parameters() []*Var {
	var vs []*Var
	p.expect("(")
	for p.err == nil && p.tok.text != ")" {
		a := p.attributes(Param)
		v := p.variable(a)
		if v.Space == Register {
			v.Reg = p.register(v.Name, v.Type, v.Line)
			p.scope.names[v.Name] = symbol{what: RegOperand, index: v.Reg}
		}
		vs = append(vs, v)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return vs
}

// performance reads the directives between the parameters and the body.
func (p *parser) performance() {
	for p.err == nil && p.tok.kind == word {
		t := p.tok
		switch t.text {
		case ".maxntid":
			p.advance()
			p.fn.MaxThreads = p.dimensions()
		case ".reqntid":
			p.advance()
			p.fn.ReqThreads = p.dimensions()
		case ".reqnctapercluster":
			p.advance()
			p.dimensions()
		case ".minnctapersm", ".maxnctapersm", ".maxnreg", ".maxclusterrank", ".abi_preserve", ".abi_preserve_control":
			p.advance()
			p.smallInt(1 << 30)
		case ".noreturn", ".explicitcluster", ".blocksareclusters":
			p.advance()
		case ".pragma":
			p.pragma()
		default:
			p.fail(t.line, "%s is not a directive that is known here", t)
		}
	}
}

func (p *parser) dimensions() [3]int {
	d := [3]int{1, 1, 1}
	for i := range d {
		d[i] = p.smallInt(1 << 30)
		if !p.accept(",") {
			break
		}
	}
	return d
}

// body reads the statements between braces.
func (p *parser) body() {
	p.expect("{")
	for depth := 1; p.err == nil; {
		switch {
		case p.accept("{"):
			if depth++; depth > maxDepth {
				p.fail(p.tok.line, "more than %d nested braces", maxDepth)
				return
			}
			p.push()
		case p.accept("}"):
			if depth--; depth == 0 {
				return
			}
			p.pop()
		case p.tok.kind == end:
			p.fail(p.tok.line, "function %s without an end", p.fn.Name)
		default:
			p.statement()
		}
	}
}

func (p *parser) statement() {
	t := p.tok
	if t.text == ".reg" || strings.HasPrefix(t.text, ".reg.") {
		p.registers()
		return
	}
	switch t.text {
	case ";":
		p.advance()
	case ".loc":
		p.location()
	case ".file":
		p.file()
	case ".pragma":
		p.pragma()
	default:
		if t.kind == word && t.text[0] == '.' {
			p.fn.Vars = append(p.fn.Vars, p.variables(false)...)
			p.expect(";")
			return
		}
		p.instruction()
	}
}
