// Package gopherwarp opens the best device for kernels that this machine has: an NVIDIA GPU
// where there is one, else the CPU.
//
//	dev, err := gopherwarp.Open()
//	if err != nil { ... }
//	defer dev.Close()
//	fmt.Println(dev.Info()) // which device, and why not a better one
//	s, err := dev.NewStream()
//	a, err := device.Upload(s, []float32{1, 2, 3})
//	err = kernels.Scale(s, device.Cover(3, 256), a.All(), 2) // written by gopherwarp build
//	err = s.Synchronize(ctx)
//
// It is only the door: what a device does is in package device, the words of a kernel are
// in package gpu, and the command that compiles kernels is cmd/gopherwarp. Programs that need
// a device of one kind call cuda.Open or cpu.Open.
package gopherwarp
