package ir

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// Parse reads a module in the text form. Blank lines and lines that start with # are
// skipped. The result is not verified.
func Parse(text string) (m *Module, err error) {
	p := &parser{m: &Module{}}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(syntaxError)
			if !ok {
				panic(r)
			}
			m, err = nil, fmt.Errorf("ir: line %d: %s", p.line, string(e))
		}
	}()
	lines := strings.Split(text, "\n")
	p.declare(lines)
	for i, line := range lines {
		p.line = i + 1
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			p.parseLine(newScanner(line))
		}
	}
	if p.f != nil {
		panic(syntaxError("the last function has no end"))
	}
	return p.m, nil
}

type parser struct {
	m      *Module
	line   int
	f      *Func  // the function that is open, or nil
	b      *Block // the block that is open, or nil
	values map[int]*Value
	blocks map[int]*Block
	edges  []edges
	inner  map[*Value][]int // the arguments, by ID, until the function ends
}

// edges are the predecessors and successors of a block by ID.
type edges struct {
	block        *Block
	preds, succs []int
	line         int
}

// declare makes the functions before anything is read, so that calls find them.
func (p *parser) declare(lines []string) {
	for _, line := range lines {
		s := newScanner(line)
		if s.tok == "func" || s.tok == "kernel" {
			kernel := s.next() == "kernel"
			p.m.Funcs = append(p.m.Funcs, &Func{Name: s.tok, Kernel: kernel, Result: Void})
		}
	}
}

func (p *parser) parseLine(s *scanner) {
	switch {
	case p.f == nil && s.accept("var"):
		p.variable(s)
	case p.f == nil && (s.accept("func") || s.accept("kernel")):
		p.header(s)
	case p.f == nil:
		s.fail("want var, func or kernel")
	case s.accept("}"):
		p.end()
	case isBlock(s.tok) && headsBlock(s.rest):
		p.block(s)
	case p.b == nil:
		s.fail("want a block")
	default:
		p.value(s)
	}
	if s.tok != "" {
		s.fail("want the end of the line")
	}
}

// headsBlock reports whether the rest of a line continues a block's name as the line before the block's values does.
func headsBlock(rest string) bool {
	before, _, ok := strings.Cut(rest, ":")
	return ok && !slices.ContainsFunc(strings.Fields(before), func(word string) bool { return word != "cold" && word != "launch" && word != "apart" })
}

func isBlock(tok string) bool {
	if len(tok) < 2 || tok[0] != 'b' {
		return false
	}
	_, err := strconv.ParseUint(tok[1:], 10, 31)
	return err == nil
}

func (p *parser) variable(s *scanner) {
	s.expect("$")
	v := &Variable{Name: s.next(), Space: spaceNamed(s.next())}
	v.Type = s.typ()
	if s.accept("align") {
		v.Align = s.integer()
	}
	if s.tok != "" {
		v.Init = []byte(s.quoted())
	}
	p.m.Vars = append(p.m.Vars, v)
}

func (p *parser) header(s *scanner) {
	name := s.next()
	p.f = p.m.Func(name)
	if p.f == nil || len(p.f.Blocks) > 0 {
		s.fail("function %s stands twice", name)
	}
	p.b, p.edges = nil, nil
	p.values, p.blocks, p.inner = map[int]*Value{}, map[int]*Block{}, map[*Value][]int{}
	s.expect("(")
	for i := int64(0); !s.accept(")"); i++ {
		p.param(s, i)
		if s.tok != ")" {
			s.expect(",")
		}
	}
	if p.f.Kernel {
		s.expect("bytes")
		p.f.ParamBytes = int(s.integer())
		if s.accept("block") {
			for axis := range p.f.Block {
				p.f.Block[axis] = int(s.integer())
			}
		}
		p.f.Narrow = s.accept("narrow")
		if s.accept("coarse") {
			p.f.Coarse = int(s.integer())
		}
		p.f.Aligned = s.accept("aligned")
		if s.accept("slices") {
			p.slices(s)
		}
	}
	if s.accept("->") {
		p.f.Result = s.typ()
	}
	s.expect("{")
}

func (p *parser) slices(s *scanner) {
	for s.accept("@") {
		offset := s.integer()
		s.expect("of")
		p.f.Slices = append(p.f.Slices, SliceParam{Offset: offset, Elem: s.integer()})
	}
}

func (p *parser) param(s *scanner, i int64) {
	id := p.id(s)
	v := &Value{ID: id, Op: OpParam, Type: s.typ(), Imm: i}
	if p.f.Kernel {
		s.expect("@")
		v.Imm = s.integer()
	}
	p.f.Params = append(p.f.Params, v)
	p.define(s, v)
}

// id moves past %N.
func (p *parser) id(s *scanner) int {
	s.expect("%")
	n := s.integer()
	if n < 0 || n > math.MaxInt32 {
		s.fail("want a value's number")
	}
	return int(n)
}

func (p *parser) define(s *scanner, v *Value) {
	if p.values[v.ID] != nil {
		s.fail("%%%d is defined twice", v.ID)
	}
	p.values[v.ID] = v
	p.f.nextValue = max(p.f.nextValue, v.ID+1)
}

func (p *parser) block(s *scanner) {
	id := blockID(s)
	if p.blocks[id] != nil {
		s.fail("b%d stands twice", id)
	}
	p.b = &Block{ID: id, Func: p.f, Cold: s.accept("cold"), Launch: s.accept("launch"), Apart: s.accept("apart")}
	p.blocks[id] = p.b
	p.f.Blocks = append(p.f.Blocks, p.b)
	p.f.nextBlock = max(p.f.nextBlock, id+1)
	e := edges{block: p.b, line: p.line}
	s.expect(":")
	if s.accept("<-") {
		for s.tok != "" {
			e.preds = append(e.preds, blockID(s))
		}
	}
	p.edges = append(p.edges, e)
}

// blockID moves past bN.
func blockID(s *scanner) int {
	if !isBlock(s.tok) {
		s.fail("want a block")
	}
	n, err := strconv.Atoi(s.next()[1:])
	if err != nil {
		s.fail("want a block")
	}
	return n
}

func (p *parser) value(s *scanner) {
	v := &Value{ID: -1, Type: Void, Block: p.b}
	if s.tok == "%" {
		v.ID = p.id(s)
		s.expect("=")
	}
	op, ok := lookupOp(s.tok)
	if !ok {
		s.fail("want an operation")
	}
	s.next()
	v.Op = op
	if v.ID >= 0 {
		v.Type = s.typ()
		p.define(s, v)
	}
	p.aux(s, v)
	if s.tok == "%" {
		p.inner[v] = append(p.inner[v], p.id(s))
		for s.accept(",") {
			p.inner[v] = append(p.inner[v], p.id(s))
		}
	}
	p.suffix(s, v)
	p.b.Values = append(p.b.Values, v)
}

// aux moves past what stands between the type and the arguments.
func (p *parser) aux(s *scanner, v *Value) {
	switch ops[v.Op].attr {
	case attrConst:
		v.Imm = parseConst(s, v.Type)
	case attrType:
		s.expect("<")
		v.Aux = s.typ()
		s.expect(">")
	case attrVar:
		s.expect("$")
		v.Aux = p.variableNamed(s)
	case attrFunc:
		s.expect("@")
		f := p.m.Func(s.next())
		if f == nil {
			s.fail("no such function")
		}
		v.Aux = f
	}
}

func (p *parser) variableNamed(s *scanner) *Variable {
	name := s.next()
	for _, v := range p.m.Vars {
		if v.Name == name {
			return v
		}
	}
	s.fail("no variable $%s", name)
	return nil
}

func site(s *scanner) *Site {
	site := &Site{Format: s.quoted()}
	s.expect("(")
	for !s.accept(")") {
		t, ok := dtype.Parse(s.tok)
		if !ok {
			s.fail("want an element type")
		}
		site.Args = append(site.Args, t)
		s.next()
		if s.tok != ")" {
			s.expect(",")
		}
	}
	return site
}

// suffix moves past what is after the arguments.
func (p *parser) suffix(s *scanner, v *Value) {
	if ops[v.Op].attr == attrSite {
		v.Aux = site(s)
	}
	if s.accept("{") {
		if ops[v.Op].attr == attrMemory {
			v.Imm = memory(s)
		} else {
			v.Imm = s.integer()
		}
		s.expect("}")
	}
	e := &p.edges[len(p.edges)-1]
	for v.Op.Terminator() && isBlock(s.tok) {
		e.succs = append(e.succs, blockID(s))
	}
	if s.accept("!") {
		v.Pos.File = s.next()
		s.expect(":")
		v.Pos.Line = int(s.integer())
		s.expect(":")
		v.Pos.Col = int(s.integer())
	}
}

// parseConst moves past a constant of type t and returns its bits.
func parseConst(s *scanner, t *Type) int64 {
	if !t.IsFloat() || strings.HasPrefix(s.tok, "0x") {
		n, err := strconv.ParseInt(s.tok, 0, 64)
		if u, uerr := strconv.ParseUint(s.tok, 0, 64); err != nil && uerr == nil {
			n, err = int64(u), nil
		}
		if err != nil {
			s.fail("want a number")
		}
		s.next()
		return n
	}
	f, err := strconv.ParseFloat(s.tok, t.Bits())
	if err != nil {
		s.fail("want a float")
	}
	s.next()
	if t.Kind == KindF32 {
		return int64(int32(math.Float32bits(float32(f))))
	}
	return int64(math.Float64bits(f))
}

// end closes the function: it resolves arguments and edges.
func (p *parser) end() {
	for _, b := range p.f.Blocks {
		for _, v := range b.Values {
			for _, id := range p.inner[v] {
				a := p.values[id]
				if a == nil {
					panic(syntaxError(fmt.Sprintf("%s uses %%%d, which is not defined", p.f.Name, id)))
				}
				v.Args = append(v.Args, a)
			}
			if v.ID < 0 {
				v.ID = p.f.newID()
			}
		}
	}
	for _, e := range p.edges {
		e.block.Preds = p.resolve(e.preds)
		e.block.Succs = p.resolve(e.succs)
	}
	p.f = nil
}

func (p *parser) resolve(ids []int) []*Block {
	var blocks []*Block
	for _, id := range ids {
		b := p.blocks[id]
		if b == nil {
			panic(syntaxError(fmt.Sprintf("%s has no block b%d", p.f.Name, id)))
		}
		blocks = append(blocks, b)
	}
	return blocks
}
