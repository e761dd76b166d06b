// Command runner measures how many mutants of the compiler the tests kill.
//
//	go run ./internal/verify/mutation/runner -n 80 -seed 1
//	go run ./internal/verify/mutation/runner -n 80 -seed 1 -kernels 10000 -report report.md
//	go run ./internal/verify/mutation/runner -n 80 -seed 1 -only 3,17-20
//
// It draws n mutations that compile and applies each in an overlay, so the source tree never changes.
// It runs the packages of the suite in steps, those that are closest to the mutated package first, until
// one fails: the package itself, the rest of the compiler, packages compile and conformance, the commands,
// all other packages and finally the random kernels of package progen. A mutant that the suite does not
// kill is then run on more random kernels by command long, which compares native execution, twins with
// and without vector code, coroutines, goroutines and the interpreter. Tests that take longer than the
// limit also kill the mutant.
//
// Each step tries all mutants that are left before the next step starts, so an interrupted run has judged
// most of them; its report counts the others as not judged.
//
// First, all steps run without a mutation and must pass, unless -unchecked is set. The result is a table in
// Markdown. Mutants that mutation.Equivalent lists are not run. The flag -only repeats single mutants of a
// sample, or runs a part of it; its numbers are those in the table. A sample depends on the source; the flag -keys
// repeats mutants whose lines are unchanged after other lines have changed.
package main
