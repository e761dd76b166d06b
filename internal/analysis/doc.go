// Package analysis derives facts about functions: dominance frontiers, loops, ranges of values, and
// where conditions hold. It does not modify functions; package pass transforms them using these
// facts.
//
//	dom := ir.Dominators(f)
//	for _, l := range analysis.Loops(dom) {
//		fmt.Println(l.Header, l.Depth)
//	}
//
// A result is valid until the function is modified. After that, it must be computed again.
package analysis
