// Command judge says whether the compiler that it was built with is right about the kernels of
// the conformance suite and about random ones. Command hunt builds it, with the mistakes of
// package mutation in the compiler, and runs it once for each.
//
//	judge -root . -work FOLDER -first "suite/control"
//
// It takes one part after the other: the groups of the suite, then packages of random kernels, which lie
// in the folder. It compiles a part and, where the code is other than the folder says, has the
// interpreter run it, in every variant that a launch may get, and compares: with what the cases
// want, and with what Go's own compiler has made of the random kernels. The first difference
// ends it. It prints one line: by what it was caught, or how many kernels have other code.
package main
