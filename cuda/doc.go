// Package cuda runs kernels on NVIDIA GPUs. It needs only the NVIDIA driver: neither cgo nor the CUDA
// toolkit.
//
//	infos, err := cuda.List()                    // the GPUs of this machine
//	dev, err := cuda.Open(0)                     // *device.Device
//	if errors.Is(err, cuda.ErrNoDriver) { ... }  // or ErrOldDriver, ErrNoDevice, ErrPermission, ErrDeviceInit
//	s, err := dev.NewStream()                    // then package device and generated launchers
//
// The package does not contain the kernel compiler. A driver.Kernel contains PTX; the NVIDIA driver compiles the PTX to
// machine code when the kernel is first launched. To open the best device of a machine, call gopherwarp.Open.
//
// A device and everything that belongs to it may be used by multiple goroutines simultaneously. A
// goroutine that waits for the GPU does not block a thread, because one goroutine per device polls
// the driver for all waiting goroutines. docs/runtime.md describes the lifetimes of all objects.
package cuda
