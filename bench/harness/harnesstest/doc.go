// Package harnesstest tests the cases of a suite of bench/harness without a GPU: the kernels on the CPU and in
// the PTX interpreter, the CUDA C++ twins in the interpreter if nvcc is installed, and the parameter blocks that
// both take.
//
//	func TestCases(t *testing.T) { harnesstest.Cases(t, Suite()) }
//	func TestTwins(t *testing.T) { harnesstest.Twins(t, Suite()) }
//
// Cases run in their small size.
package harnesstest
