package analysis

import "github.com/gopherwarp/gopherwarp/internal/ir"

// Pressure estimates the number of 32-bit registers that a thread needs: the maximum, over all points, of the
// total size of the live values in the current order of values. Constants and conditions need no registers.
// ptxas reorders instructions and needs some registers for addresses, but the estimate is usually close.
func Pressure(dom *ir.Dom) int {
	f := dom.Order()[0].Func
	p := &pressure{in: make([]map[*ir.Value]bool, f.NumBlocks())}
	for changed := true; changed; {
		changed = false
		for i := len(dom.Order()) - 1; i >= 0; i-- {
			b := dom.Order()[i]
			live := p.block(b, nil)
			if changed = changed || len(live) != len(p.in[b.ID]); len(live) != len(p.in[b.ID]) {
				p.in[b.ID] = live
			}
		}
	}
	most := 0
	for _, b := range dom.Order() {
		p.block(b, func(words int) { most = max(most, words) })
	}
	return most
}

type pressure struct {
	in []map[*ir.Value]bool // by block ID: what is needed at the block's beginning
}

// block returns the values that are live at the beginning of b, and calls tell with the number of
// registers in use at each point.
func (p *pressure) block(b *ir.Block, tell func(words int)) map[*ir.Value]bool {
	live, words := map[*ir.Value]bool{}, 0
	use := func(v *ir.Value) {
		if n := Registers(v); n > 0 && !live[v] {
			live[v] = true
			words += n
		}
	}
	for _, s := range b.Succs {
		for v := range p.in[s.ID] {
			use(v)
		}
		k := s.PredIndex(b)
		for _, phi := range s.Phis() {
			use(phi.Args[k])
		}
	}
	for i := len(b.Values) - 1; i >= 0; i-- {
		v := b.Values[i]
		if tell != nil {
			tell(words)
		}
		if live[v] {
			delete(live, v)
			words -= Registers(v)
		}
		if v.Op == ir.OpPhi {
			continue // its arguments are used where the edges begin
		}
		for _, a := range v.Args {
			use(a)
		}
	}
	return live
}

// Registers returns the words that v takes while it is in use.
func Registers(v *ir.Value) int {
	switch {
	case v.Op == ir.OpConst || v.Op == ir.OpZero || v.Op == ir.OpVar || v.Op == ir.OpAlloca || v.Op == ir.OpParam:
		return 0 // parts of instructions; parameters are in constant memory
	case v.Type.Kind == ir.KindVoid || v.Type.Kind == ir.KindI1:
		return 0
	}
	return int(v.Type.Size()+3) / 4
}
