package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	minLaunchTest = 6   // instructions of a condition that is left to the launcher
	maxLaunchTest = 200 // values of such a condition, before equal ones are joined
)

// launchTests leaves to the launcher what is the same for all threads: of the branches whose conditions depend on the
// parameters and the number of blocks alone, that with the longest computation. A block before the kernel computes its condition.
//
//	b0:                                       b1 launch:
//		%3 = nctaid i32 {0}                       %3 = nctaid i32 {0}
//		%4 = mul i32 %3, %1                       %4 = mul i32 %3, %1
//		%5 = ule i1 %4, %2                        %5 = ule i1 %4, %2
//		if %5 b2 b3                               jump b0
//	                                          b0: <- b1
//	                                              if %5 b2 b3
//
// What it computed before and nothing else needs is dead code afterwards.
func launchTests(f *ir.Func, _ *Options) {
	locals := slices.ContainsFunc(f.Blocks[0].Values, func(v *ir.Value) bool { return v.Op == ir.OpAlloca }) // which must stay in the entry
	if !f.Kernel || f.Coarse > 0 || locals {                                                                 // a coarse grid has fewer blocks than the kernel knows of
		return
	}
	var test []*ir.Value
	most := minLaunchTest - 1
	for _, b := range f.Blocks {
		if t := b.Term(); t.Op == ir.OpIf && !b.Cold {
			values, ok := launchTest(t.Args[0])
			if n := instructions(values); ok && n > most {
				test, most = values, n
			}
		}
	}
	if test != nil {
		insertLaunchTest(f, test)
	}
}

// launchTest returns the values that a condition is computed from, arguments first, without parameters. It reports false
// where a launcher cannot compute it.
func launchTest(cond *ir.Value) (values []*ir.Value, ok bool) {
	known := map[*ir.Value]bool{}
	var visit func(v *ir.Value) bool
	visit = func(v *ir.Value) bool {
		if known[v] {
			return true
		}
		if len(known) == maxLaunchTest || !v.Launchable() {
			return false
		}
		known[v] = true
		for _, a := range v.Args {
			if !visit(a) {
				return false
			}
		}
		if v.Op != ir.OpParam {
			values = append(values, v)
		}
		return true
	}
	ok = visit(cond)
	return values, ok
}

// instructions returns how many of the values are more than a constant or another view of a number.
func instructions(values []*ir.Value) (n int) {
	for _, v := range values {
		if v.Op != ir.OpConst && v.Op != ir.OpTrunc && v.Op != ir.OpZExt {
			n++
		}
	}
	return n
}

// insertLaunchTest computes a condition in a block before the kernel, and uses it there instead of the one in the kernel.
func insertLaunchTest(f *ir.Func, test []*ir.Value) {
	entry := f.Blocks[0]
	launch := f.NewBlock()
	launch.Launch = true
	f.Blocks = slices.Insert(f.Blocks[:len(f.Blocks)-1], 0, launch)
	e := &editor{b: launch}
	made := map[*ir.Value]*ir.Value{}
	for _, v := range test {
		args := slices.Clone(v.Args)
		for i, a := range args {
			if made[a] != nil {
				args[i] = made[a]
			}
		}
		e.pos = v.Pos
		made[v] = e.makeImm(v.Op, v.Type, v.Imm, args...)
	}
	e.make(ir.OpJump, ir.Void)
	launch.Values = e.out
	launch.AddEdge(entry)
	cond := test[len(test)-1]
	for _, b := range f.Blocks {
		if t := b.Term(); t.Op == ir.OpIf && t.Args[0] == cond {
			t.Args[0] = made[cond]
		}
	}
}
