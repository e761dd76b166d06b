// Package trial runs random kernels on devices and brings what they leave into a form that
// processes can exchange and compare byte by byte.
//
//	t := trial.Of(kernel)                 // of package progen
//	want := t.On(native)                  // a device
//	t.Compiled(k)                         // what package compile made of it
//	if d := t.Differs(want, t.On(gpu)); d != "" { ... }
//
// Arguments depend on the trial alone, so every process makes the same ones. A kernel
// that faults is run again, one thread at a time: which thread comes first is the device's choice.
//
// The package compiles nothing and opens no device but the CPU, for programs of Natives.
package trial
