// Command oracle decides whether the compiler that it was built with compiles the kernels of the
// conformance suite, and random ones, correctly. Command runner builds it, with the mutations of
// package mutation in the compiler, and runs it once for each.
//
//	oracle -root . -work FOLDER -first "suite/control"
//
// It checks the groups of the suite, then packages of random kernels from the folder. It compiles
// each and, if the code differs from the reference in the folder, runs every variant on the
// interpreter. It compares the results with those that the cases expect and, for random kernels,
// with those of the Go compiler. It stops at the first difference and prints one line: what killed
// the mutant, or that it survived and how many kernels have different code.
package main
