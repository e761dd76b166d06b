// Command oracle decides whether the compiler that it was built with compiles the kernels of the
// conformance suite, and random ones, correctly. Command runner builds it, with the mutations of
// package mutation in the compiler, and runs it once for each.
//
//	oracle -root . -work FOLDER -first "suite/control"
//
// It checks one part after the other: the groups of the suite, then packages of random kernels from
// the folder. It compiles a part and, where the code differs from the reference in the folder, runs
// it on the interpreter, in every variant that a launch may get, and compares the results with what
// the cases expect and with those of Go's own compiler for the random kernels. It stops at the first
// difference. It prints one line: what killed the mutant, or that it survived and how many kernels
// have different code.
package main
