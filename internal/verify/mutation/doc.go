// Package mutation enumerates mutations of the compiler for mutation testing: small changes of its
// source, each made by a rule at one place. A test suite that is strong enough fails on nearly all of
// the mutants.
//
//	source, err := mutation.Load(root)
//	sample, rejected := source.Sample(80, 1) // 80 mutants that compile, drawn with seed 1
//	text, err := sample[0].Apply(root)
//
// The rules are the table in rules.go. Load applies them to all functions of the frontend, the IR, the
// analyses, the passes and both back ends, except in tests and generated files. No rule changes an
// assertion, that is, a panic and the condition that guards only a panic: a correct program never
// depends on one.
//
// Some mutants are equivalent: no program distinguishes them from the compiler. They are listed with
// reasons in equivalent.txt. Command runner applies a sample of mutations, each in an overlay, and
// reports what the tests notice.
package mutation
