// Package ondemand runs the tests of packages whose kernels' code is generated on demand: the source tree has only their
// launchers (//gpu:ondemand), so go test alone would run the kernels only natively.
//
//	func TestMain(m *testing.M) { os.Exit(ondemand.Main(m)) }
//
// Main compiles the kernels of the package, and those of imported packages that are generated on demand too, with the
// compiler in the source tree. Then it runs go test again with the result. So these tests always test the present
// compiler.
package ondemand
