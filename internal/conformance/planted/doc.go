// Package planted has kernels with a mistake each, and beside each the same kernel without it. The PTX
// interpreter must find every mistake at its line, and nothing in the others.
//
//	//gpu:kernel
//	func sumUnsynced(t gpu.Thread, x, sum []float32) {
//		...
//		s[me] += s[me+half] // want "data race"
//
// A want is a regular expression that must match what is reported at its line. In it, {} stands for that
// line, and {name} for the line that ends in the comment "here: name". A line of a Go kernel and nothing else is
// what a user needs to find a mistake.
//
// Its tests are all there is to it; no case of package conformance runs these.
//
//gpu:ondemand
package planted

//go:generate go tool gopherwarp build .
