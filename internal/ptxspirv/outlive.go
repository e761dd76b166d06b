package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// A compiler of Mesa keeps the threads of a subgroup in the lanes of vectors. While some threads repeat a loop, it also overwrites the values of those
// that have left the loop, unless the values are merged after the loop with those of another exit. On such a device, each loop has
// an exit that is never taken and after which its values would be different.

// keepValues adds such an exit to a loop whose body begins here. It stores 0 in the variables that are read after the loop.
func (t *translator) keepValues(merge spirv.ID, variables []variable) {
	if !t.options.LosesValues || len(variables) == 0 {
		return
	}
	zero := t.op(spirv.OpShiftRightLogical, ptx.U64, t.dataAddress(), t.word(63)) // no address has the upper bit
	never := t.test(spirv.OpINotEqual, zero, t.wide(0))
	t.when(never, func() bool {
		for _, v := range variables {
			bits := zero
			switch {
			case v.typ == ptx.Pred:
				bits = never
			case held(v.typ) == 4:
				bits = t.op(spirv.OpUConvert, ptx.U32, zero)
			}
			t.Emit(spirv.OpStore, v.id, bits)
		}
		t.Emit(spirv.OpBranch, merge)
		return false
	}, nil)
}

// variable is a variable of the function.
type variable struct {
	id  spirv.ID
	typ ptx.Type
}

// outliving returns the registers that a loop writes and that code outside of the loop reads.
func (t *translator) outliving(x *loop) (list []variable) {
	inside := map[int]bool{}
	blocksIn(x.body, inside)
	written, read := map[int]bool{}, map[int]bool{}
	for i := range t.blocks {
		b := &t.blocks[i]
		if !inside[i] && len(b.next) == 2 && b.test == nil {
			read[b.guard.Reg] = true
		}
		for _, in := range b.code {
			if inside[i] {
				registersIn(in.Args[:min(1, len(in.Args))], written)
			} else {
				registersIn(in.Args, read)
			}
		}
	}
	for r := range t.f.Regs {
		if written[r] && read[r] {
			list = append(list, variable{t.registers[r], t.f.Regs[r].Type})
		}
	}
	return list
}

// blocksIn adds the blocks of nodes to a set.
func blocksIn(nodes []node, set map[int]bool) {
	for _, x := range nodes {
		switch x := x.(type) {
		case code:
			set[x.block] = true
		case *choice:
			blocksIn(slices.Concat(x.arms[0], x.arms[1]), set)
		case *scope:
			blocksIn(x.body, set)
		case *loop:
			blocksIn(x.body, set)
		}
	}
}

// registersIn adds the registers that operands name to a set.
func registersIn(list []ptx.Operand, set map[int]bool) {
	for _, o := range list {
		if o.Kind == ptx.RegOperand {
			set[o.Reg] = true
		}
		registersIn(o.Elems, set)
	}
}
