// Package edit changes the control flow of IR functions: it removes edges and unreachable blocks, copies blocks, loops and
// functions, and moves values to locals and back out of the way of such copies. Package ir splits blocks and edges.
//
//	edit.DemoteLiveOuts(loop) // the copies define the same values, so these are in locals
//	c := edit.NewCloner(f, f)
//	for range trips {
//		c.CopyLoop(loop)
//	}
//
// It decides nothing: the passes of package pass do. Afterwards they promote the locals to values again.
package edit
