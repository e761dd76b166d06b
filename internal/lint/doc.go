// Package lint finds code in a kernel's IR that compiles but is wrong or slow: barriers that only
// some threads reach, uses of shared memory without a barrier, and memory accesses that waste
// bandwidth.
//
//	findings, err := lint.Kernel(kernel)
//	for _, f := range findings {
//		fmt.Println(f.Pos, f.Category, f.Message)
//	}
//
// It reports only what it can prove for the threads of one block and for known values. It does not
// change the IR and does not judge style. Package vet makes it available to editors and go vet.
package lint
