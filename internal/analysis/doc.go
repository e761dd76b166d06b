// Package analysis derives facts about functions: dominance frontiers, loops, ranges of
// values, which conditions hold where. It changes nothing and transforms nothing: package
// pass does, with these facts.
//
//	dom := ir.Dominators(f)
//	for _, l := range analysis.Loops(dom) {
//		fmt.Println(l.Header, l.Depth)
//	}
//
// A result describes the function as it was when it was computed; after a change of the
// function it must be computed again.
package analysis
