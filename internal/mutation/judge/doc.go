// Command judge says whether the compiler that it was built with is right about the kernels of
// the conformance suite and about random ones. It is built anew for each mutant of the compiler.
//
//	judge -root . -random FOLDER
//
// It compiles the suite's kernels and puts the code in place of what is checked in, runs the suite in the
// interpreter, then compiles the random kernels that lie in the folder and compares them with
// results that Go's own compiler has given, which lie there too. The first difference
// ends it. It prints one line: by what it was caught, or how many kernels have other code than
// the folder says.
package main
