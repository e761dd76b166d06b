// Package load reads Go packages for the compiler: first the list of packages, then the types of
// the packages with kernels and of all packages that they import.
//
// The package does not depend on kernels and does not build SSA. It type-checks everything from source, but loads only the
// function bodies that the given roots may reach and, in the standard library, only those of the few packages that kernels
// may call. From the rest of the standard library, and from other modules, it loads only declarations that some code names. Loading
// therefore takes about a tenth of a second and needs no build cache.
//
//	g, err := load.List(ctx, dir, "./...")
//	prog := g.Check(g.Roots, nil, nil)
//	for _, p := range prog.Packages {
//		fmt.Println(p.ImportPath, p.Types, len(p.Syntax))
//	}
package load
