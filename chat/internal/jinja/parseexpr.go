package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// tuple reads an expression, or several of them with commas.
func (p *parser) tuple() expression { return p.tupleOf(p.conditional) }

func (p *parser) tupleOf(read func() expression) expression {
	first := read()
	if !p.is(operator, ",") {
		return first
	}
	list := []expression{first}
	for p.skip(operator, ",") {
		if t := p.current(); t.kind == printEnd || t.kind == blockEnd || p.is(operator, ")") {
			break
		}
		list = append(list, read())
	}
	return sequence{list, true}
}

// conditional reads an expression, also one of the form x if condition else y.
func (p *parser) conditional() expression {
	p.enter()
	defer p.leave()
	e := p.or()
	for p.skip(nameToken, "if") {
		c := conditional{then: e, condition: p.or()}
		if p.skip(nameToken, "else") {
			c.otherwise = p.conditional()
		}
		e = c
	}
	return e
}

func (p *parser) or() expression {
	e := p.and()
	for p.skip(nameToken, "or") {
		e = logical{e, p.and(), true}
	}
	return e
}

func (p *parser) and() expression {
	e := p.not()
	for p.skip(nameToken, "and") {
		e = logical{e, p.not(), false}
	}
	return e
}

func (p *parser) not() expression {
	p.enter()
	defer p.leave()
	if p.skip(nameToken, "not") {
		return negated{p.not()}
	}
	return p.compare()
}

func (p *parser) compare() expression {
	c := comparison{first: p.sum()}
	for {
		t := p.current()
		op := t.text
		switch {
		case t.kind == operator && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, op), p.is(nameToken, "in"):
			p.at++
		case p.is(nameToken, "not") && p.tokens[p.at+1] == token{nameToken, "in", p.tokens[p.at+1].line}:
			op = "not in"
			p.at += 2
		case c.ops == nil:
			return c.first
		default:
			return c
		}
		c.ops, c.rest = append(c.ops, op), append(c.rest, p.sum())
	}
}

// chain reads operands with left-associative operators between them.
func (p *parser) chain(operand func() expression, ops ...string) expression {
	e := operand()
	for p.current().kind == operator && slices.Contains(ops, p.current().text) {
		e = arithmetic{p.next().text, e, operand()}
	}
	return e
}

func (p *parser) sum() expression { return p.chain(p.concatenation, "+", "-") }

func (p *parser) concatenation() expression {
	e := p.product()
	if !p.is(operator, "~") {
		return e
	}
	c := concatenation{[]expression{e}}
	for p.skip(operator, "~") {
		c.items = append(c.items, p.product())
	}
	return c
}

func (p *parser) product() expression { return p.chain(p.power, "*", "/", "//", "%") }
func (p *parser) power() expression   { return p.chain(p.signed, "**") }

// signed reads an expression with filters, which apply to its sign, too.
func (p *parser) signed() expression { return p.filters(p.unfiltered()) }

func (p *parser) unfiltered() expression {
	p.enter()
	defer p.leave()
	for _, op := range []string{"-", "+"} {
		if p.skip(operator, op) {
			return p.postfix(sign{op, p.unfiltered()})
		}
	}
	return p.postfix(p.primary())
}

// isConstant reports whether a name is that of a constant.
func isConstant(name string) bool {
	return slices.Contains([]string{"true", "True", "false", "False", "none", "None"}, name)
}

func (p *parser) primary() expression {
	t := p.next()
	switch t.kind {
	case nameToken:
		switch t.text {
		case "true", "True":
			return constant{true}
		case "false", "False":
			return constant{false}
		case "none", "None":
			return constant{nil}
		}
		return variable{t.text}
	case stringToken:
		var b strings.Builder
		b.WriteString(t.text)
		for p.current().kind == stringToken {
			b.WriteString(p.next().text)
		}
		return constant{b.String()}
	case intToken:
		return constant{integer(t)}
	case floatToken:
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil && f == 0 {
			p.fail(t)
		}
		return constant{f}
	case operator:
		switch t.text {
		case "(":
			if p.skip(operator, ")") {
				return sequence{tuple: true}
			}
			e := p.tuple()
			p.expect(operator, ")")
			return e
		case "[":
			return sequence{items: p.list("]")}
		case "{":
			return p.dictionary()
		}
	}
	p.fail(t)
	return nil
}

// integer returns the value of an integer literal.
func integer(t token) int64 {
	text := t.text
	base := 10
	if len(text) > 2 && text[1] > '9' {
		base = 0
	}
	n, err := strconv.ParseInt(text, base, 64)
	if err != nil {
		fail(t.line, "%s is no 64-bit integer", text)
	}
	return n
}

// list reads expressions up to a bracket.
func (p *parser) list(closing string) (list []expression) {
	for !p.skip(operator, closing) {
		if len(list) > 0 {
			p.expect(operator, ",")
			if p.skip(operator, closing) {
				break
			}
		}
		list = append(list, p.conditional())
	}
	return list
}

func (p *parser) dictionary() expression {
	var d dictionary
	for !p.skip(operator, "}") {
		if len(d.keys) > 0 {
			p.expect(operator, ",")
			if p.skip(operator, "}") {
				break
			}
		}
		d.keys = append(d.keys, p.conditional())
		p.expect(operator, ":")
		d.values = append(d.values, p.conditional())
	}
	return d
}

// postfix reads the attributes, items and calls after an expression.
func (p *parser) postfix(e expression) expression {
	for {
		switch {
		case p.skip(operator, "."):
			t := p.next()
			switch t.kind {
			case nameToken:
				e = &attribute{e, t.text}
			case intToken:
				e = &item{e, constant{integer(t)}}
			default:
				p.fail(t)
			}
		case p.skip(operator, "["):
			e = p.subscript(e)
		case p.is(operator, "("):
			e = &invocation{e, p.operands()}
		default:
			return e
		}
	}
}

// subscript reads an index or a slice after its bracket.
func (p *parser) subscript(of expression) expression {
	var parts [3]expression
	n := 0
	for ; n < len(parts); n++ {
		if !p.is(operator, ":") && !p.is(operator, "]") {
			parts[n] = p.tuple()
		}
		if !p.skip(operator, ":") {
			break
		}
	}
	t := p.current()
	if n == len(parts) || n == 0 && parts[0] == nil {
		p.fail(t)
	}
	p.expect(operator, "]")
	if n == 0 {
		return &item{of, parts[0]}
	}
	return &slice{of, parts[0], parts[1], parts[2]}
}

// operands reads the arguments of a call.
func (p *parser) operands() (o operands) {
	p.expect(operator, "(")
	for first := true; !p.skip(operator, ")"); first = false {
		if !first {
			p.expect(operator, ",")
			if p.skip(operator, ")") {
				break
			}
		}
		t := p.current()
		switch {
		case p.skip(operator, "*") && o.spread == nil:
			o.spread = p.conditional()
		case p.skip(operator, "**") && o.spreadNamed == nil:
			o.spreadNamed = p.conditional()
		case t.kind == nameToken && p.tokens[p.at+1].kind == operator && p.tokens[p.at+1].text == "=":
			p.at += 2
			o.names, o.values = append(o.names, t.text), append(o.values, p.conditional())
		case o.names != nil || o.spreadNamed != nil:
			fail(t.line, "an argument without a name follows one with a name")
		default:
			o.list = append(o.list, p.conditional())
		}
	}
	return o
}

// filters reads the filters, tests and calls after an expression.
func (p *parser) filters(e expression) expression {
	for {
		switch {
		case p.skip(operator, "|"):
			f := &filtered{of: e, name: p.name()}
			if p.is(operator, "(") {
				f.operands = p.operands()
			}
			e = f
		case p.skip(nameToken, "is"):
			e = p.test(e)
		case p.is(operator, "("):
			e = &invocation{e, p.operands()}
		default:
			return e
		}
	}
}

// test reads a test after the word is.
func (p *parser) test(of expression) expression {
	not := p.skip(nameToken, "not")
	t := &tested{of: of, name: p.name()}
	switch c := p.current(); {
	case p.is(operator, "("):
		t.operands = p.operands()
	case p.is(nameToken, "is"):
		p.fail(c)
	case c.kind == nameToken && slices.Contains([]string{"else", "or", "and", "if", "in", "not"}, c.text):
	case c.kind == nameToken, c.kind == stringToken, c.kind == intToken, c.kind == floatToken, p.is(operator, "["), p.is(operator, "{"):
		p.enter()
		t.operands.list = []expression{p.postfix(p.primary())}
		p.leave()
	}
	if not {
		return negated{t}
	}
	return t
}
