package layout

import "github.com/gopherwarp/gopherwarp/internal/ir"

// roots returns for every pointer the one that it is computed from by adding bytes: a parameter, a variable, a
// pointer from memory, or one that may be several. Only roots are pointers in the twin's
// variables, all else are offsets: a pointer that points nowhere, perhaps computed before its
// check, must not be seen by Go's collector.
func roots(dom *ir.Dom) map[*ir.Value]*ir.Value {
	root := map[*ir.Value]*ir.Value{}
	for changed := true; changed; {
		changed = false
		for _, b := range dom.Order() {
			for _, v := range b.Values {
				if !v.Type.IsPtr() {
					continue
				}
				if r := rootOf(root, v); r != root[v] {
					root[v], changed = r, true
				}
			}
		}
	}
	return root
}

// rootOf returns the root of v as far as those of its arguments are known. Once v is its own root it
// stays so.
func rootOf(root map[*ir.Value]*ir.Value, v *ir.Value) *ir.Value {
	var args []*ir.Value
	switch v.Op {
	case ir.OpOffset, ir.OpIndex, ir.OpBitcast:
		args = v.Args[:1]
	case ir.OpPhi:
		args = v.Args
	case ir.OpSelect:
		args = v.Args[1:]
	default:
		return v
	}
	if root[v] == v {
		return v
	}
	var common *ir.Value
	for _, a := range args {
		r := root[a]
		if a.Op == ir.OpParam {
			r = a
		}
		switch {
		case r == nil:
		case common == nil:
			common = r
		case common != r && !sameVariable(common, r):
			return v
		}
	}
	return common
}

// sameVariable reports whether two roots are the same variable of the block.
func sameVariable(a, b *ir.Value) bool { return a.Op == ir.OpVar && b.Op == ir.OpVar && a.Aux == b.Aux }
