// Package ptxinterp is a device that executes PTX on the CPU, with checks: the machine code of
// a kernel runs, and can be debugged, where there is no GPU.
//
//	dev, err := ptxinterp.Open()
//	s, err := dev.NewStream()
//	a, err := device.Upload(s, host)
//	err = kernels.Scale(s, device.Cover(len(host), 256), a.All())
//	err = s.Synchronize(ctx) // *machine.Error: "scale: kernels.go:12 (PTX line 40, ...): address out of bounds: ..."
//
// It was written from NVIDIA's PTX ISA manual and shares no code with the compiler, whose
// judge it is. Package ptx parses, package scalar computes, package machine executes, package race tells which
// accesses are ordered, package traffic counts what they cost; this package adapts
// them to package device/driver as the CUDA runtime does: environment, fault records, prints.
//
// Besides what ends a kernel, Synchronize returns what was found and did not: a *machine.Race for two
// accesses in conflict and in no order, a *machine.Error for a read of memory that nobody has
// written. There is one for each pair of lines, with a count, joined where there are several.
//
// Work is done before a call returns, one launch at a time on the whole device, always in
// the same order: equal programs give equal results, atomic sums of floats included. It is for tests and for finding
// mistakes, a hundred times slower than package cpu and thousands of times slower than a GPU.
package ptxinterp
