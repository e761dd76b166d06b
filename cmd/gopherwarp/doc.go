// Command gopherwarp compiles kernels written in Go and shows what they run on.
//
//	gopherwarp build ./...              generate launchers and PTX beside the sources
//	gopherwarp build -check ./...       fail where they are stale
//	gopherwarp run ./examples/multiply  compile kernels, then run the program
//	gopherwarp devices                  list what kernels can run on
//	gopherwarp doctor                   say what is wrong with this machine
//	gopherwarp selftest                 run kernels here and compare with plain Go
//	gopherwarp bench                    measure kernels, beside CUDA C++
//
// Flags have one dash or two. Exit codes are 0 for success, 1 where the user's program or a
// check failed (run passes on the program's own code), 2 for wrong usage, and 3 where there is no GPU to use.
//
// Each subcommand is a file; the work is done by packages compile, cuda, cpu and by the packages below
// internal.
package main
