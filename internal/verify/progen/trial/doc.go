// Package trial runs random kernels on devices and encodes their results so that processes can
// exchange them and compare them byte by byte.
//
//	t := trial.Of(kernel)                    // of package progen
//	t.Compiled(k)                            // what package compile made of it
//	want := trial.NewRunner(native).Run(t)   // a device
//	if d := t.Differs(want, trial.NewRunner(gpu).Run(t)); d != "" { ... }
//
// Serve does so for another process: a program of random kernels as Go's own compiler made them,
// which tries all that package cpu can do with them, or one that has a GPU.
//
// Arguments depend only on the trial, so every process generates the same ones. A kernel that
// faults is run again one thread at a time, because the device determines which thread faults
// first.
//
// The package compiles nothing and opens no device but the CPU, for programs of Natives.
package trial
