// Package devicetest tests that a device does what package device promises, whatever it is
// made of. It is for those who write a device, one line each:
//
//	func TestBackend(t *testing.T) { devicetest.TestBackend(t, cpu.Open) }
//
// Its kernels are made by hand, as Go functions and as PTX, so that a device can be tested
// without a compiler; the compiler's own tests are elsewhere.
package devicetest
