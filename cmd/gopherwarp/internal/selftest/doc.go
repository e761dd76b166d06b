// Package selftest runs kernels on a device and compares what they leave with what plain Go
// computes, so that a user can trust a new GPU, a new driver or a new version of the compiler.
//
// Its kernels are compiled by gopherwarp build, as any user's are. It is no benchmark, and
// not the suite for implementations of driver.Backend: that is device/devicetest.
//
//	for _, c := range selftest.Checks() {
//		fmt.Println(c.Name, c.Run(ctx, dev))
//	}
package selftest

//go:generate go tool kernelgen .
