package ptxspirv

// Mesa's llvmpipe ignores conditions that are nested in 80 others (LP_MAX_TGSI_NESTING); that of Mesa 25.0 crashes. On such a device, in a kernel that comes near that, a block that control
// enters from several places is not where it belongs in the nested form: it becomes a state of a kernel that runs in rounds.

// mostNested is the deepest nesting of kernels.
const mostNested = 30

// depth returns how deeply nodes are nested. Mesa makes two conditions of a construct that jumps leave.
func depth(list []node) (most int) {
	for _, x := range list {
		d := 0
		switch x := x.(type) {
		case *choice:
			d = 1 + max(depth(x.arms[0]), depth(x.arms[1]))
		case *loop:
			d = 2 + depth(x.body)
		case *scope:
			if d = depth(x.body); x.named {
				d += 2
			}
		}
		most = max(most, d)
	}
	return most
}

// flat makes the kernel run in rounds and cuts it where control joins: outside of loops without barriers or, if this does not suffice, everywhere.
func (g *graph) flat() (*graph, error) {
	if err := g.emptyFirst(); err != nil {
		return nil, err
	}
	outside := g.clone()
	if err := outside.rounds(findOutside); err != nil || depth(nest(outside)) <= mostNested {
		return outside, err
	}
	return g, g.rounds(findJoins)
}

// findOutside is findHeaders, and makes states of the blocks outside of other loops that control enters from several places.
func findOutside(r *rounds) {
	findHeaders(r)
	for _, i := range r.order {
		l := r.blocks[i].loop
		for r.headers[l] {
			l = r.blocks[l].outer
		}
		if l < 0 && r.blocks[i].joins > 1 && i != r.end {
			r.addState(i)
		}
	}
}

// findJoins makes states of the headers of all loops, and of all blocks that control enters from several places.
func findJoins(r *rounds) {
	for _, i := range r.order {
		if (r.blocks[i].header || r.blocks[i].joins > 1) && i != r.end {
			r.addState(i)
		}
	}
}
