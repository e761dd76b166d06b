// Package devicetest tests that a device behaves as package device documents. An implementation of a device needs one
// line to run the tests:
//
//	func TestBackend(t *testing.T) { devicetest.TestBackend(t, cpu.Open) }
//
// The kernels are written by hand, as Go functions and as PTX, so that a device can be tested without a
// compiler. The compiler has tests of its own.
package devicetest
