// Package ptxinterp is a device that executes PTX on the CPU with checks, so that the PTX of a
// kernel can be run and debugged without a GPU.
//
//	dev, err := ptxinterp.Open()
//	s, err := dev.NewStream()
//	a, err := device.Upload(s, host)
//	err = kernels.Scale(s, device.Cover(len(host), 256), a.All())
//	err = s.Synchronize(ctx) // *machine.Error: "scale: kernels.go:12 (PTX line 40, ...): address out of bounds: ..."
//
// The interpreter was written from NVIDIA's PTX ISA manual and shares no code with the compiler, which it
// tests. Package ptx parses, package scalar computes, package machine executes, package race determines which
// accesses are ordered, and package traffic counts their cost. This package adapts them to package
// device/driver, as the CUDA runtime does: environment, fault records, prints.
//
// Synchronize returns the error that ended a kernel and the findings that did not end it: a
// *machine.Race for two conflicting accesses that are not ordered, and a *machine.Error for a read of
// uninitialized memory. There is one finding with a count for each pair of lines. Several findings
// are joined.
//
// Work is complete when a call returns. The device runs one launch at a time, always in the same order, so equal
// programs have equal results, including atomic sums of floats. The device is for tests and debugging; it is a
// hundred times slower than package cpu and thousands of times slower than a GPU.
package ptxinterp
