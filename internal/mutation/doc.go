// Package mutation has mistakes for the compiler to be made with, each small and each such that some
// valid program gets a wrong result, to see whether the tests notice.
//
//	list, err := mutation.List()
//	text, err := mutation.Switched("fold.go", source, list[3:5])
//
// All mistakes are built into one compiler, which makes the one whose number the environment
// names: a function with a mistake exists twice, and chooses when it is called. Command hunt does
// that, and has the conformance suite and random programs look for each.
//
// The mistakes are in mutations.txt, which also says which ones are none: those that only cost
// speed, or that no program can show.
package mutation
