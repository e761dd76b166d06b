// Package harnesstest tests the cases of a suite of bench/harness without a GPU. It runs the kernels on the CPU and in
// the PTX interpreter. If nvcc is installed, it also runs the twins, the CUDA C++ kernels that the kernels are compared
// with, in the interpreter. It compares the parameter blocks of both.
//
//	func TestCases(t *testing.T) { harnesstest.Cases(t, Suite()) }
//	func TestTwins(t *testing.T) { harnesstest.Twins(t, Suite()) }
//
// Cases run in their small size.
package harnesstest
