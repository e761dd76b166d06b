// Package lint finds mistakes and slow code in a kernel's IR that compile: barriers that only some
// threads reach, shared memory without a barrier, accesses that use little of what they transfer.
//
//	findings, err := lint.Kernel(kernel)
//	for _, f := range findings {
//		fmt.Println(f.Pos, f.Category, f.Message)
//	}
//
// It reports only what it can show, for the threads of one block and for values that it knows. It
// changes nothing and gives no advice on style. Package vet makes it available to editors and go vet.
package lint
