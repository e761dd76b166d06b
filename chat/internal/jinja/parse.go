package jinja

import "slices"

// parser reads the statements of a template.
type parser struct {
	tokens []token
	at     int
	nested int
	loops  int // around the current statement, within its macro
}

func (p *parser) current() token { return p.tokens[p.at] }

// next returns the current token and goes on to the next one.
func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

func (p *parser) fail(t token) { fail(t.line, "unexpected %q", t.text) }

// is reports whether the current token is an operator or a name with a text.
func (p *parser) is(k kind, text string) bool {
	return p.current().kind == k && p.current().text == text
}

// skip reports whether the current token is an operator or a name with a text, and goes on to the next one if it is.
func (p *parser) skip(k kind, text string) bool {
	if !p.is(k, text) {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(k kind, text string) {
	if t := p.current(); !p.skip(k, text) {
		fail(t.line, "expected %q, but there is %q", text, t.text)
	}
}

// name reads a name.
func (p *parser) name() string {
	t := p.next()
	if t.kind != nameToken {
		fail(t.line, "expected a name, but there is %q", t.text)
	}
	return t.text
}

// enter begins an expression or a statement within another one.
func (p *parser) enter() {
	if p.nested++; p.nested > mostNested {
		fail(p.current().line, "the template is nested more than %d deep", mostNested)
	}
}

func (p *parser) leave() { p.nested-- }

// all reads the whole template.
func (p *parser) all() []statement {
	body := p.body()
	if t := p.current(); t.kind != end {
		fail(t.line, "unexpected %q", p.tokens[p.at+1].text)
	}
	return body
}

// body reads statements up to one of the given names, at whose tag it stays, or up to the end of the template.
func (p *parser) body(until ...string) (list []statement) {
	for {
		switch t := p.next(); t.kind {
		case textToken:
			list = append(list, text{t.text})
		case printBegin:
			list = append(list, printed{t.line, p.tuple()})
			p.end(printEnd)
		case blockBegin:
			if name := p.current(); name.kind == nameToken && (slices.Contains(until, name.text) || isEnd(name.text)) {
				p.at--
				return list
			}
			list = append(list, p.statement())
		default:
			return list
		}
	}
}

// isEnd reports whether a statement ends or continues another one.
func isEnd(name string) bool {
	return len(name) > 3 && name[:3] == "end" || name == "else" || name == "elif"
}

// end reads the end of a tag.
func (p *parser) end(k kind) {
	if t := p.next(); t.kind != k {
		p.fail(t)
	}
}

// closed reads the rest of a tag, statements, and the tag that ends them.
func (p *parser) closed(name string) []statement {
	p.end(blockEnd)
	body := p.body(name)
	p.ending(name)
	p.end(blockEnd)
	return body
}

// ending reads the beginning of a tag with a name.
func (p *parser) ending(name string) {
	t := p.next()
	if t.kind != blockBegin {
		fail(t.line, "expected %q, but the template ends", name)
	}
	p.expect(nameToken, name)
}

// statement reads a statement after the beginning of its tag.
func (p *parser) statement() statement {
	p.enter()
	defer p.leave()
	t := p.next()
	if t.kind == nameToken {
		switch t.text {
		case "if":
			return p.branches(t.line)
		case "for":
			return p.loop(t.line)
		case "set":
			return p.set(t.line)
		case "macro":
			return p.macro(t.line)
		case "call":
			return p.call(t.line)
		case "filter":
			p.tokens[p.at-1] = token{operator, "|", t.line}
			p.at--
			filters := p.filters(variable{captured})
			return filterBlock{t.line, filters, p.closed("endfilter")}
		case "with":
			return p.with(t.line)
		case "generation":
			return inner{p.closed("endgeneration")}
		case "block":
			return p.block()
		case "break", "continue":
			return p.jump(t)
		}
	}
	fail(t.line, "unknown statement %q", t.text)
	return nil
}

// jump reads the rest of a break or continue statement.
func (p *parser) jump(t token) statement {
	if p.loops == 0 {
		fail(t.line, "%s outside of a loop", t.text)
	}
	p.end(blockEnd)
	if t.text == "break" {
		return jump{broke}
	}
	return jump{continued}
}

// block reads a block, which no template can replace here.
func (p *parser) block() statement {
	name := p.name()
	p.end(blockEnd)
	body := p.body("endblock")
	p.ending("endblock")
	p.skip(nameToken, name)
	p.end(blockEnd)
	return inner{body}
}

func (p *parser) branches(line int) statement {
	var list branches
	condition := p.tupleOf(p.conditional)
	for {
		p.end(blockEnd)
		list = append(list, branch{line, condition, p.body("elif", "else", "endif")})
		if p.current().kind == end {
			fail(line, "the statement if has no endif")
		}
		p.next()
		t := p.next()
		line, condition = t.line, nil
		last := list[len(list)-1].condition == nil
		switch {
		case t.text == "elif" && !last:
			condition = p.tupleOf(p.conditional)
		case t.text == "else" && !last:
		case t.text == "endif":
			p.end(blockEnd)
			return list
		default:
			p.fail(t)
		}
	}
}

func (p *parser) loop(line int) statement {
	l := loop{line: line, target: p.target()}
	p.expect(nameToken, "in")
	l.list = p.tupleOf(p.or)
	if p.skip(nameToken, "if") {
		l.condition = p.conditional()
	}
	l.recursive = p.skip(nameToken, "recursive")
	p.end(blockEnd)
	p.loops++
	l.body = p.body("else", "endfor")
	p.loops--
	if p.current().kind == end {
		fail(line, "the statement for has no endfor")
	}
	p.next()
	if p.skip(nameToken, "else") {
		l.otherwise = p.closed("endfor")
		return l
	}
	p.expect(nameToken, "endfor")
	p.end(blockEnd)
	return l
}

// target reads what an assignment sets.
func (p *parser) target() target {
	first := p.oneTarget()
	if !p.is(operator, ",") {
		return first
	}
	all := target{parts: []target{first}}
	for p.skip(operator, ",") {
		if p.current().kind != nameToken && !p.is(operator, "(") || p.is(nameToken, "in") {
			break
		}
		all.parts = append(all.parts, p.oneTarget())
	}
	return all
}

func (p *parser) oneTarget() target {
	if p.skip(operator, "(") {
		p.enter()
		defer p.leave()
		t := p.target()
		p.expect(operator, ")")
		return t
	}
	t := p.current()
	name := p.name()
	if isConstant(name) {
		p.fail(t)
	}
	if p.skip(operator, ".") {
		return target{name: name, attribute: p.name()}
	}
	return target{name: name}
}

func (p *parser) set(line int) statement {
	t := p.target()
	if p.skip(operator, "=") {
		a := assignment{line, t, p.tuple()}
		p.end(blockEnd)
		return a
	}
	var filters expression
	if p.is(operator, "|") {
		filters = p.filters(variable{captured})
	}
	return block{line, t, filters, p.closed("endset")}
}

func (p *parser) macro(line int) statement {
	d := &definition{line: line, name: p.name(), params: p.parameters()}
	d.body = p.function("endmacro")
	return d
}

// function reads the body of a macro, which does not belong to the loop around the macro.
func (p *parser) function(name string) []statement {
	loops := p.loops
	p.loops = 0
	body := p.closed(name)
	p.loops = loops
	return body
}

func (p *parser) parameters() (list []parameter) {
	p.expect(operator, "(")
	for !p.skip(operator, ")") {
		if len(list) > 0 {
			p.expect(operator, ",")
			if p.skip(operator, ")") {
				break
			}
		}
		param := parameter{name: p.name()}
		if p.skip(operator, "=") {
			param.otherwise = p.conditional()
		}
		list = append(list, param)
	}
	return list
}

func (p *parser) call(line int) statement {
	caller := &definition{line: line, name: "caller"}
	if p.is(operator, "(") {
		caller.params = p.parameters()
	}
	call, ok := p.conditional().(*invocation)
	if !ok {
		fail(line, "the statement call needs a call")
	}
	caller.body = p.function("endcall")
	return callBlock{line, call, caller}
}

func (p *parser) with(line int) statement {
	w := with{line: line}
	for p.current().kind != blockEnd {
		if len(w.names) > 0 {
			p.expect(operator, ",")
		}
		w.names = append(w.names, p.oneTarget())
		p.expect(operator, "=")
		w.values = append(w.values, p.conditional())
	}
	w.body = p.closed("endwith")
	return w
}
