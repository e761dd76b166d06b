// Package verify documents the project's verification and contains no code. Its subpackages differ in what they
// compare and in how kernels are written:
//
//	conformance  kernels written by hand, one for each behaviour of the language and of package gpu, compared
//	             with values that plain Go computes, on every device; gopherwarp selftest runs them
//	seeded       kernels with a deliberate mistake each, beside the same kernel without it: the PTX interpreter
//	             must report the mistake at its line, and nothing else
//	progen       random kernels, compared between all ways to run a kernel; Go's own compiler is the reference
//	corpus       kernels made of functions of Go's tests, the standard library and gonum, compared in the same
//	             way, or refused with a documented code
//	mutation     mutations of the compiler's source, made by rules: the tests and the random kernels should
//	             fail on each, or the tests are too weak
//	ondemand     runs the tests of packages whose kernels' code is generated on demand
//
// Two related packages are elsewhere: device/devicetest compares devices without the compiler, and
// internal/repotest checks the repository's rules.
package verify
