// Package decl finds kernels in the syntax of a package: functions with a //gpu:kernel
// directive, what their other directives ask for, and the signature of each one's launcher.
//
// It works without types, so that launchers can be declared before the packages that call them are
// type-checked. Package compile checks whether values of a parameter's type can be passed to a
// device.
//
//	pkg := decl.Scan(dir, files, names)
//	for _, k := range pkg.Kernels {
//		fmt.Println(k.Name, k.Launcher, k.Block)
//	}
//	fmt.Println(pkg.Errors)
package decl
