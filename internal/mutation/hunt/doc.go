// Command hunt makes the compiler with each mistake of package mutation and looks whether the
// conformance suite or random programs notice.
//
//	go run ./internal/mutation/hunt -j 4 -work /tmp/mutants
//	go run ./internal/mutation/hunt -part 1/4 -only 'fold|gvn'
//
// It prints a line for each mutation: the number, how long it took, by what it was caught or that it lives,
// and its name; then how many were caught. The mistakes are built into one program, command judge, so
// that only the first run with a new compiler builds anything. The folder keeps the random kernels, what
// Go's own compiler makes of them, and what caught a mutation last, which is tried first.
//
// The compiler without a mutation is judged before the first, unless it has been, and behind the last: nothing may be wrong with it.
//
// A mutation is caught too where the compiler panics. One that takes longer than the limit hangs, which counts for
// something only on a machine that does nothing else. One whose text is
// no longer in the compiler is stale and counts for nothing.
package main
