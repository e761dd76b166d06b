package ptx

import (
	"fmt"
	"strings"
)

// Parse reads a PTX text. The error, if any, is an *Error for the first invalid line.
func Parse(src string) (*Module, error) {
	p := &parser{lex: lexer{src: src, line: 1}, mod: &Module{AddressSize: 32, Files: map[int]string{}}}
	p.scope = &scope{names: map[string]symbol{}, ranges: map[string]regRange{}}
	p.code = make([]Instr, 0, strings.Count(src, ";")) // each ends with one
	p.advance()
	for p.tok.kind != end {
		p.item()
	}
	if p.err == nil && p.lex.bad != "" {
		p.fail(p.lex.line, "%s", p.lex.bad)
	}
	if p.err == nil && p.mod.Version == [2]int{} {
		p.fail(1, "no .version directive")
	}
	if p.err != nil {
		return nil, p.err
	}
	return p.mod, nil
}

// parser is a recursive descent parser. After an error it sees the end of the text only, so
// that every loop ends.
type parser struct {
	lex   lexer
	tok   token
	mod   *Module
	fn    *Func
	scope *scope
	loc   Loc
	code  []Instr // of the functions that are read, and room for all others
	mods  slab[string]
	lists slab[Operand]
	err   error
}

// fail records the first error.
func (p *parser) fail(line int, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{line, fmt.Sprintf(format, args...)}
	}
	p.lex.at = len(p.lex.src)
	p.tok = token{line: line}
}

func (p *parser) advance() {
	p.tok = p.lex.next()
	if p.lex.bad != "" {
		p.fail(p.lex.line, "%s", p.lex.bad)
	}
}

// accept moves past the token if it is the given punctuation or word.
func (p *parser) accept(s string) bool {
	if p.tok.text != s || p.tok.kind != punct && p.tok.kind != word {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(s string) {
	if !p.accept(s) {
		p.fail(p.tok.line, "%s where %q is expected", p.tok, s)
	}
}

// String describes the token for an error.
func (t token) String() string {
	if t.kind == end {
		return "end of text"
	}
	return fmt.Sprintf("%q", t.text)
}

// name takes an identifier without dots.
func (p *parser) name() string {
	t := p.tok
	if t.kind != word || strings.ContainsAny(t.text, ".:") {
		p.fail(t.line, "%s where a name is expected", t)
		return ""
	}
	p.advance()
	return t.text
}

// smallInt takes a constant expression between 0 and limit.
func (p *parser) smallInt(limit int) int {
	line := p.tok.line
	o := p.constant()
	if p.err == nil && (o.Kind != IntOperand || o.Bits > uint64(limit)) {
		p.fail(line, "a number from 0 to %d is expected", limit)
	}
	if p.err != nil {
		return 0
	}
	return int(o.Bits)
}

// item reads one directive of the module's level (section 11).
func (p *parser) item() {
	t := p.tok
	if t.kind != word || t.text[0] != '.' {
		p.fail(t.line, "%s where a directive is expected", t)
		return
	}
	switch t.text {
	case ".version":
		p.advance()
		p.version()
	case ".target":
		p.advance()
		p.target()
	case ".address_size":
		p.advance()
		p.mod.AddressSize = p.smallInt(64)
	case ".file":
		p.file()
	case ".loc":
		p.location()
	case ".section":
		p.section()
	case ".pragma":
		p.pragma()
	default:
		p.declaration()
	}
}

// declaration reads linkage and then a function or a variable.
func (p *parser) declaration() {
	extern := false
	for p.err == nil {
		switch p.tok.text {
		case ".extern":
			extern = true
			p.advance()
		case ".visible", ".weak", ".common":
			p.advance()
		case ".entry", ".func":
			p.function()
			return
		default:
			p.mod.Vars = append(p.mod.Vars, p.variables(extern)...)
			p.expect(";")
			return
		}
	}
}

func (p *parser) version() {
	var v [2]int
	if n, err := fmt.Sscanf(p.tok.text, "%d.%d", &v[0], &v[1]); n != 2 || err != nil {
		p.fail(p.tok.line, "%s is not a version", p.tok)
		return
	}
	p.mod.Version = v
	p.advance()
}

func (p *parser) target() {
	for {
		p.mod.Target = append(p.mod.Target, p.name())
		if !p.accept(",") {
			return
		}
	}
}

// file reads .file INDEX "NAME" [, TIME, SIZE].
func (p *parser) file() {
	p.advance()
	index := p.smallInt(1 << 30)
	if p.tok.kind != text {
		p.fail(p.tok.line, "%s where a file name is expected", p.tok)
		return
	}
	p.mod.Files[index] = p.tok.text
	p.advance()
	for p.accept(",") {
		p.constant()
	}
}

// location reads .loc FILE LINE COLUMN [, attributes on the same line].
func (p *parser) location() {
	line := p.tok.line
	p.advance()
	p.loc = Loc{p.smallInt(1 << 30), p.smallInt(1 << 30), p.smallInt(1 << 30)}
	if p.tok.text != "," {
		return
	}
	for p.err == nil && p.tok.kind != end && p.tok.line == line {
		p.advance() // function_name and inlined_at
	}
}

// section skips a debug section.
func (p *parser) section() {
	for p.err == nil && p.tok.text != "{" && p.tok.kind != end {
		p.advance()
	}
	for depth := 0; p.err == nil; {
		switch p.tok.text {
		case "{":
			depth++
		case "}":
			depth--
		}
		if p.tok.kind == end {
			p.fail(p.tok.line, "section without an end")
			return
		}
		p.advance()
		if depth == 0 {
			return
		}
	}
}

// pragma skips a pragma; none changes what a program computes.
func (p *parser) pragma() {
	p.advance()
	for p.tok.kind == text {
		p.advance()
		p.accept(",")
	}
	p.expect(";")
}
