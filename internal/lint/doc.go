// Package lint finds in a kernel's IR what compiles and is still a mistake, or slow: barriers that only
// some threads reach, shared memory without a barrier, accesses that use little of what they move.
//
//	for _, f := range lint.Kernel(module, kernel) {
//		fmt.Println(f.Pos, f.Category, f.Message)
//	}
//
// What it says it can show, for the threads of one block and for values that it knows; where
// it cannot, it is silent. It changes nothing and gives no advice on style. Package vet is its
// face for editors and go vet.
package lint
