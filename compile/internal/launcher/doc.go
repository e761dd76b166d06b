// Package launcher writes a package's generated Go file: for each kernel a typed function that
// launches it, and the driver.Kernel that it launches.
//
// The package does not compile. Stub writes a file with only the launchers' signatures, which is
// used while the kernels are compiled; File writes the final file. The text depends only on the
// arguments, not on paths, times or the order of maps.
//
//	stub := launcher.Stub(pkg, nameOf)
//	text, err := launcher.File(pkg, compiled, nameOf)
package launcher
