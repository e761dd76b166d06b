// Package mutation changes the compiler, one small mistake at a time, and looks whether the tests
// notice: operators are exchanged, conditions negated, numbers and statements changed.
//
//	sites, err := mutation.Sites("internal/pass/fold.go", source)
//	mutant := sites[7].Apply(source)
//
// Its test, with -mutations=100, builds that many mutants in a copy of the repository and
// runs the conformance suite and random programs on each. A mutant that survives is
// either as good as the compiler (a threshold of an optimisation) or what no test looks at.
package mutation
