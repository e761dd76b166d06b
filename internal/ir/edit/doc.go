// Package edit changes the control flow of IR functions: it removes edges and unreachable blocks, copies blocks, loops and
// functions, and moves values to locals before such copies. Package ir splits blocks and edges.
//
//	edit.DemoteLiveOuts(loop) // the copies define the same values, so these are in locals
//	c := edit.NewCloner(f, f)
//	for range trips {
//		c.CopyLoop(loop)
//	}
//
// The passes of package pass decide what to change. Afterwards, they promote the locals to values again.
package edit
