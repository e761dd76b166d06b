// Package mutation lists mutations of the compiler for mutation testing. Each is a small change that
// makes some valid program compute a wrong result; the tests should kill each mutant.
//
//	list, err := mutation.List()
//	text, err := mutation.Switched("fold.go", source, list[3:5])
//
// One compiler contains all mutations and applies the one whose number the environment names: a
// function with a mutation exists twice, and chooses when it is called. Command runner builds that
// compiler, and command oracle, which contains it, checks it by the conformance suite and random
// programs.
//
// The mutations are in mutations.txt, which also lists equivalent mutants: those that only cost
// speed, or that no program can distinguish.
package mutation
