// Package mutation changes the compiler, one small mistake at a time, and looks whether the tests
// notice: operators are exchanged, conditions negated, numbers and statements changed.
//
//	sites, err := mutation.Sites("internal/pass/fold.go", source)
//	mutant := sites[7].Apply(source)
//
// Its test, with -mutations=100, builds command judge with each of that many mutants, which
// runs the conformance suite and random programs. A mutant that survives is either as good as the
// compiler (a threshold of an optimisation) or what no program shows.
//
// Sites are chosen for what they mean to valid programs. What is said about invalid ones, and about
// the compiler's own mistakes, is no site: refusals and panics with the conditions that lead
// to nothing else.
package mutation
