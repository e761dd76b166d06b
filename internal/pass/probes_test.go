package pass

import (
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// withProbes returns a copy of f that also computes random functions of its integers in every block, and checks some
// conditions of them, which make facts for the code behind. Nothing depends on the results.
func withProbes(f *ir.Func, r *rand.Rand) *ir.Func {
	f = f.Clone()
	dom := ir.Dominators(f)
	ends := make([][]*ir.Value, f.NumBlocks()) // by block ID: the integers that are known at its end
	for _, b := range dom.Order() {
		p := &prober{r: r, e: &editor{b: b}}
		if up := dom.Idom(b); up != nil && up != b {
			p.known = ends[up.ID]
		} else {
			p.know(f.Params...)
		}
		p.known = p.known[:len(p.known):len(p.known)]
		p.block()
		ends[b.ID] = p.known
	}
	return f
}

// A prober adds probes to a block.
type prober struct {
	r     *rand.Rand
	e     *editor
	known []*ir.Value // integers
}

func (p *prober) know(list ...*ir.Value) {
	for _, v := range list {
		if v.Type.IsInt() {
			p.known = append(p.known, v)
		}
	}
}

// block writes the block anew, with probes before some values and before its end.
func (p *prober) block() {
	b := p.e.b
	for _, v := range b.Values {
		if v.Op.Terminator() || v.Op != ir.OpPhi && p.r.IntN(12) == 0 {
			for range 4 {
				p.probe()
			}
		}
		p.e.out = append(p.e.out, v)
		p.know(v)
	}
	p.e.keep()
}

var probeConstants = []int64{0, 1, -1, 2, 3, 4, 5, 7, 8, 10, 16, 31, 32, 63, 64, 100, -2, -3, -8, 127, 128, 255, 1023, 1 << 15,
	math.MaxInt32, math.MinInt32, 1<<32 - 1, 1 << 48, math.MaxInt64, math.MinInt64}

// operand returns a known integer of type t, mostly one of the last, or a constant.
func (p *prober) operand(t *ir.Type) *ir.Value {
	var of []*ir.Value
	for _, v := range p.known {
		if v.Type.Equal(t) {
			of = append(of, v)
		}
	}
	if len(of) == 0 || p.r.IntN(4) == 0 {
		return p.constant(t)
	}
	if n := len(of); n > 6 && p.r.IntN(2) == 0 {
		of = of[n-6:]
	}
	return of[p.r.IntN(len(of))]
}

func (p *prober) constant(t *ir.Type) *ir.Value {
	few := 12
	if p.r.IntN(3) == 0 {
		few = len(probeConstants)
	}
	return p.e.constant(t, analysis.SignExtend(t, probeConstants[p.r.IntN(few)]))
}

// probe adds a value, and makes it known.
func (p *prober) probe() {
	t := []*ir.Type{ir.I64, ir.I64, ir.I64, ir.I32, ir.I32, ir.I8}[p.r.IntN(6)]
	switch p.r.IntN(15) {
	case 12, 13, 14:
		p.know(p.small(t))
	case 0, 1:
		p.check(p.condition(t))
	case 2:
		p.know(p.e.make(ir.OpSelect, t, p.condition(t), p.operand(t), p.operand(t)))
	case 3:
		p.extension()
	case 4:
		x := p.operand(t)
		p.know(p.e.make(ir.OpShl+ir.Op(p.r.IntN(3)), t, x, p.operand(ir.I32)))
	case 5:
		p.know(p.e.make(ir.OpPopc+ir.Op(p.r.IntN(3)), t, p.operand(t)))
	case 6, 7:
		p.know(p.condition(t))
	default:
		p.know(p.e.make(ir.OpAdd+ir.Op(p.r.IntN(int(ir.OpXor-ir.OpAdd)+1)), t, p.operand(t), p.operand(t)))
	}
}

// small adds a number whose range has few numbers, often all above 0.
func (p *prober) small(t *ir.Type) *ir.Value {
	low := p.e.make(ir.OpAnd, t, p.operand(t), p.e.constant(t, []int64{1, 2, 3, 7, 12, 31}[p.r.IntN(6)]))
	return p.e.make(ir.OpAdd, t, low, p.e.constant(t, []int64{0, 1, 1, 2, 5, -1, -3, -9}[p.r.IntN(8)]))
}

// extension adds a conversion between integers.
func (p *prober) extension() {
	narrow := []*ir.Type{ir.I32, ir.I32, ir.I8, ir.I1}[p.r.IntN(4)]
	if p.r.IntN(3) == 0 {
		p.know(p.e.make(ir.OpTrunc, narrow, p.operand(ir.I64)))
		return
	}
	p.know(p.e.make(ir.OpSExt+ir.Op(p.r.IntN(2)), ir.I64, p.operand(narrow)))
}

// condition adds a comparison of integers of type t, or a combination of conditions.
func (p *prober) condition(t *ir.Type) *ir.Value {
	if p.r.IntN(5) == 0 {
		op := ir.OpAnd + ir.Op(p.r.IntN(3))
		x, y := p.operand(ir.I1), p.operand(ir.I1)
		if op == ir.OpXor && p.r.IntN(2) == 0 {
			y = p.e.constant(ir.I1, int64(p.r.IntN(2)))
		}
		return p.e.make(op, ir.I1, x, y)
	}
	return p.e.make(ir.OpEq+ir.Op(p.r.IntN(6)), ir.I1, p.operand(t), p.operand(t))
}

func (p *prober) check(c *ir.Value) {
	v := p.e.make(ir.OpCheck, ir.Void, c)
	v.Aux = &ir.Site{Format: "probe", Args: []dtype.Type{}}
	p.know(c)
}
