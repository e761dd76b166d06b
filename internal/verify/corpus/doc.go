// Package corpus makes kernels of functions that were not written for this project: those of the tests in
// GOROOT/test, of the standard library, and of modules that the project requires.
//
//	library, err := corpus.Load(ctx, root, corpus.All(ctx)) // from GOROOT and the module cache
//	for _, k := range library.Sample(3000, 1).Kernels {     // 3,000 kernels, drawn with seed 1
//		fmt.Println(k.From, k.Kernel.Source)
//	}
//
// A kernel calls one function, in each thread with other arguments, and stores a hash of its results and of what its arguments point to. If
// the function is exported by a package that programs can import, one kernel imports it. Another kernel contains a copy of the function and
// of all declarations that it needs, except those of packages that can be imported. The copy's package-level names are replaced by unique
// ones, so that many kernels fit in one package. Unexported functions and functions of GOROOT/test have only a kernel with a copy. So have
// functions of modules whose packages use package math, because package compare can replace math only in kernels, not in their imports.
//
// A copy differs from the original where Go defines no result: such conversions of floats to integers yield 0, and only the lowest bit of a
// carry that is passed to package math/bits counts. The variables that the function needs are initialized, but init functions are not
// called.
//
// Functions whose parameters are interfaces, maps or channels are left out. All others are candidates: most of them
// use a feature that kernels lack, which the compiler must refuse with a documented code. Command runner compiles a sample,
// runs what is not refused in all executions that package compare knows, and writes a report.
//
// The repository contains no copy of any of these functions.
package corpus
