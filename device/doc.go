// Package device says what every device does, whatever it is made of, and holds the
// values that pass between the compiler and a runtime: Kernel, Grid, Slice, Fault.
//
//	a, err := device.Upload(s, host)                       // *device.Buffer[float32]
//	err = kernels.Multiply(s, device.Cover(n, 256), a.All(), b.All(), c.All())
//	err = device.Download(s, out, c)
//	err = s.Synchronize(ctx)                               // a kernel's panic arrives here
//
// Streams, events, buffers of many kinds, planes, graphs: docs/runtime.md goes through them.
//
// It knows neither CUDA nor a compiler. A runtime (packages cuda and cpu, and the PTX
// interpreter) implements Backend and wraps it with New.
package device
