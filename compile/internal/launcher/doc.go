// Package launcher writes a package's generated Go file: for each kernel a typed function that
// launches it, and the driver.Kernel that it launches.
//
// It compiles nothing. Stub writes a file with the launchers' signatures alone, which
// stands in while the kernels are compiled; File writes the real one. The text depends on
// its arguments only: no paths, no times, no order of maps.
//
//	stub := launcher.Stub(pkg, nameOf)
//	text, err := launcher.File(pkg, compiled, nameOf)
package launcher
