package pass

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// touches compares the bytes that the loads and stores of a run touch with what the analyses say of them.
type touches struct {
	list  []touched
	block int // index of the first access of the block that is running
	wrong string
}

// touched is the bytes that a load or store has touched.
type touched struct {
	v    *ir.Value
	addr uint64
	size int64
}

// maxTouched is how many accesses of a run are compared with each other.
const maxTouched = 60

// enter begins a block.
func (a *touches) enter() { a.block = len(a.list) }

// add compares v, which is about to run, with the accesses before if it is one.
func (a *touches) add(v *ir.Value, values []datum) {
	if v.Op != ir.OpLoad && v.Op != ir.OpStore || len(a.list) == maxTouched {
		return
	}
	now := touched{v, values[v.Args[0].ID].bits, analysis.Accessed(v).Size()}
	for i, before := range a.list {
		if now.addr >= before.addr+uint64(before.size) || before.addr >= now.addr+uint64(now.size) {
			continue
		}
		if p, q := before.v.Args[0], v.Args[0]; !analysis.MayAlias(p, q) && !constant(p) && !constant(q) {
			a.wrong = fmt.Sprintf("%%%d and %%%d do not alias", p.ID, q.ID)
		}
		if i >= a.block && !analysis.MayOverlap(before.v, v) && !constant(v.Args[0]) {
			a.wrong = fmt.Sprintf("the accesses %%%d and %%%d do not overlap", before.v.ID, v.ID)
		}
	}
	a.list = append(a.list, now)
}

// constant reports whether p points into memory that is never written, so that it does not matter what aliases it.
func constant(p *ir.Value) bool { return p.Type.Space == ir.Constant }
