// Package trial runs random kernels on devices and encodes their results so that processes can
// exchange them and compare them byte by byte.
//
//	t := trial.Of(kernel)                    // of package progen
//	t.Compiled(k)                            // what package compile made of it
//	want := trial.NewRunner(native).Run(t)   // a device
//	if d := t.Differs(want, trial.NewRunner(gpu).Run(t)); d != "" { ... }
//
// Serve does so for another process: a program with random kernels that Go's own compiler
// compiled, which runs them in all ways that package cpu has, or a program on a machine with a
// GPU.
//
// Arguments depend only on the trial, so every process generates the same ones. A kernel that
// faults is run again, one thread at a time, because the thread that faults first depends on the
// device.
//
// The package compiles nothing. It opens only the CPU device, in Natives.
package trial
