// Package build is the command line that compiles kernels: that of cmd/kernelgen and of the subcommand build of
// cmd/gopherwarp. It parses flags, calls package compile, writes generated files, and prints diagnostics.
//
//	func main() {
//		streams := build.Streams{Out: os.Stdout, Err: os.Stderr}
//		os.Exit(build.Main(ctx, "kernelgen", os.Args[1:], streams))
//	}
//
// It imports nothing but package compile and the standard library: go generate builds it in each module that uses it.
package build
