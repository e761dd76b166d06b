// Package seeded has kernels with one seeded defect each, such as a missing barrier, and next to each
// the same kernel without it. The PTX interpreter must report every defect at its line, and nothing
// in the other kernels.
//
//	//gpu:kernel
//	func sumUnsynced(t gpu.Thread, x, sum []float32) {
//		...
//		s[me] += s[me+half] // want "data race"
//
// A want is a regular expression that must match the report at its line. In it, {} stands for that
// line, and {name} for the line that ends with the comment "here: name".
//
// Only the tests of this package run these kernels; no case of package conformance does.
//
//gpu:ondemand
package seeded

//go:generate go tool gopherwarp build .
