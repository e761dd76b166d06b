// Command gopherwarp compiles and runs kernels written in Go, and reports on the devices that run them.
//
//	gopherwarp build ./...              generate launchers and PTX beside the sources
//	gopherwarp build -check ./...       fail if they are stale
//	gopherwarp run ./examples/multiply  compile kernels, then run the program
//	gopherwarp vet ./...                report likely mistakes in kernels
//	gopherwarp trace ./examples/blur    run a program and record what its device does
//	gopherwarp weights model.gguf       list the metadata and tensors of a model
//	gopherwarp perplexity -model F TEXT print how well a language model predicts a text
//	gopherwarp devices                  list the devices that kernels can run on
//	gopherwarp doctor                   diagnose why a GPU cannot be used
//	gopherwarp selftest                 run test kernels and compare with plain Go
//	gopherwarp bench                    measure kernels and compare with CUDA C++
//	gopherwarp help [command]           describe a command
//
// Flags have one dash or two. Exit codes are 0 for success, 1 if the user's program or a
// check failed (run passes on the program's own code), 2 for wrong usage, and 3 if no GPU can be used.
//
// The subcommand build does the same as the command cmd/kernelgen, which is for go generate. The go command builds kernelgen in half
// the time.
package main
