// Package cpu contains kernels for measurements of the CPU device, and plain Go code that does the same. The
// kernels are ordinary ones: nothing in them is written for the CPU.
//
//	go test -bench . ./bench/cpu
//
//gpu:ondemand
package cpu
