// Package device provides the same operations for every kind of device: a GPU, the CPU, and the PTX
// interpreter.
//
//	a, err := device.Upload(s, host)                       // *device.Buffer[float32]
//	err = kernels.Multiply(s, device.Cover(n, 256), a.All(), b.All(), c.All())
//	err = device.Download(s, out, c)
//	err = s.Synchronize(ctx)                               // returns a panic of the kernel
//
// Packages gopherwarp, cuda, vulkan and cpu open a Device. docs/runtime.md describes streams,
// events, memory and graphs. Package device/driver is for back ends and generated code.
package device
