// Package ondemand runs the tests of packages whose kernels' code is generated on demand: the source tree has
// only their launchers (//gpu:ondemand), so that go test by itself would run them natively and nowhere else.
//
//	func TestMain(m *testing.M) { os.Exit(ondemand.Main(m)) }
//
// Main compiles the kernels of the package, and of those packages it imports that are generated on demand too, with the
// compiler that is in the source tree, and runs go test once more on top of the result. Such tests therefore always test
// the compiler as it is now.
package ondemand
