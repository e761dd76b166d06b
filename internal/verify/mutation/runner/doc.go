// Command runner builds the compiler with each mutation of package mutation and reports which mutants
// the conformance suite or random programs kill.
//
//	go run ./internal/verify/mutation/runner -j 4 -work /tmp/mutants
//	go run ./internal/verify/mutation/runner -part 1/4 -only 'fold|gvn'
//
// It prints a line for each mutation: the number, the time, what killed the mutant or that it
// survived, and the name; then the totals. All mutations are built into one program, command oracle,
// so that only the first run with a new compiler builds anything. The folder keeps the random
// kernels, their results by Go's own compiler, and what killed each mutant last, which is tried first.
//
// The compiler without a mutation must survive, before the first mutant, unless it already has, and
// after the last.
//
// A panic of the compiler kills a mutant too. A mutant that exceeds the time limit hangs, which is
// significant only on an otherwise idle machine. A mutation whose text is no longer in the compiler is
// stale and not counted.
package main
