// Package load reads Go packages for the compiler: first which there are, then, for those
// that hold kernels and all that they import, their types.
//
// It knows nothing of kernels and builds no SSA. Everything is checked from source, and only those function
// bodies are loaded that the roots it is told of may reach; of the standard library's, those of a few packages that
// kernels may call. Of the rest of the standard library only those declarations are loaded that something names. So it takes
// about a tenth of a second and needs no build cache.
//
//	g, err := load.List(ctx, dir, "./...")
//	prog := g.Check(g.Roots, nil, nil)
//	for _, p := range prog.Packages {
//		fmt.Println(p.ImportPath, p.Types, len(p.Syntax))
//	}
package load
