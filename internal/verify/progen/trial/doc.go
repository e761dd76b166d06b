// Package trial runs random kernels on devices and brings what they leave into a form that
// processes can exchange and compare byte by byte.
//
//	t := trial.Of(kernel)                    // of package progen
//	t.Compiled(k)                            // what package compile made of it
//	want := trial.NewRunner(native).Run(t)   // a device
//	if d := t.Differs(want, trial.NewRunner(gpu).Run(t)); d != "" { ... }
//
// Serve does so for another process: a program of random kernels as Go's own compiler made them,
// which tries all that package cpu can do with them, or one that has a GPU.
//
// Arguments depend on the trial alone, so every process makes the same ones. A kernel
// that faults is run again, one thread at a time: which thread comes first is the device's choice.
//
// The package compiles nothing and opens no device but the CPU, for programs of Natives.
package trial
