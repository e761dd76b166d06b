package analysis

import "github.com/gopherwarp/gopherwarp/internal/ir"

// Demand says how much of a value is needed.
type Demand uint8

// Demands, each of which includes those before it.
const (
	Unused Demand = iota
	Lower         // the lower 32 bits
	Full
)

// NewDemands returns how much is needed of each value of f, by ID. The lower half of a sum or product depends on the lower
// halves of its arguments alone, that of a phi on those of what it may be.
func NewDemands(f *ir.Func) []Demand {
	d := &demander{of: make([]Demand, f.NumValues())}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if !v.Op.Pure() && v.Op != ir.OpPhi {
				d.want(v, Full)
			}
		}
	}
	for len(d.list) > 0 {
		v := d.list[len(d.list)-1]
		d.list = d.list[:len(d.list)-1]
		for i, a := range v.Args {
			d.want(a, d.ofArg(v, i))
		}
	}
	return d.of
}

// A demander has a list of values whose demand has grown.
type demander struct {
	of   []Demand
	list []*ir.Value
}

func (d *demander) want(v *ir.Value, n Demand) {
	if d.of[v.ID] < n {
		d.of[v.ID] = n
		d.list = append(d.list, v)
	}
}

// ofArg returns how much of its argument i is needed for what is needed of v.
func (d *demander) ofArg(v *ir.Value, i int) Demand {
	switch v.Op {
	case ir.OpTrunc:
		if v.Type.Bits() <= 32 {
			return Lower
		}
	case ir.OpPhi, ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpAnd, ir.OpOr, ir.OpXor:
		return d.of[v.ID]
	case ir.OpShl:
		if i == 0 {
			return d.of[v.ID]
		}
	case ir.OpSelect:
		if i > 0 {
			return d.of[v.ID]
		}
	}
	return Full
}
