package ptx

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// unwritten returns the slices, by their offsets in the parameter block, that a kernel does not write. There are none if it may
// run beside the preceding kernel, which could write them.
func unwritten(f *ir.Func) map[int64]bool {
	found := map[int64]bool{}
	for _, s := range f.Slices {
		found[s.Offset] = true
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpAwaitPrevious {
				return nil
			}
			if v.Op == ir.OpStore {
				if p := analysis.SliceOf(v); p != nil {
					delete(found, p.Imm)
				}
			}
		}
	}
	return found
}

// source returns the suffix of load v. Memory that nobody writes while the kernel runs is read as such (.nc), so that ptxas moves
// the load over stores.
func (s *selector) source(v *ir.Value) string {
	space := v.Args[0].Type.Space
	if v.Block.Apart && space == ir.Global {
		if p := analysis.SliceOf(v); p != nil && s.unwritten[p.Imm] {
			return ".global.nc"
		}
	}
	return suffix(space)
}
