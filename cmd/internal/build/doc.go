// Package build implements the command line of cmd/kernelgen and of the subcommand build of cmd/gopherwarp. It
// parses flags, calls package compile, writes generated files, and prints diagnostics.
//
//	func main() {
//		streams := build.Streams{Out: os.Stdout, Err: os.Stderr}
//		os.Exit(build.Main(ctx, "kernelgen", os.Args[1:], streams))
//	}
//
// It imports little besides package compile, because go generate builds it in each module that uses it.
package build
