// Package decl finds kernels in the syntax of a package: functions with a //gpu:kernel
// directive, what their other directives ask for, and the signature of each one's launcher.
//
// It sees no types, so that launchers can be declared before a package that calls them has
// any. Whether a parameter's type can cross to a device is for package compile to say.
//
//	pkg := decl.Scan(dir, files, names)
//	for _, k := range pkg.Kernels {
//		fmt.Println(k.Name, k.Launcher, k.Block)
//	}
//	fmt.Println(pkg.Errors)
package decl
