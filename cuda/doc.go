// Package cuda runs kernels on NVIDIA GPUs, through the driver's library alone: no cgo, no
// CUDA toolkit.
//
//	infos, err := cuda.List()                    // what there is
//	dev, err := cuda.Open(0)                     // *device.Device
//	if errors.Is(err, cuda.ErrNoDriver) { ... }  // or ErrOldDriver, ErrNoDevice, ErrPermission, ErrDeviceInit
//	s, err := dev.NewStream()                    // then package device and generated launchers
//
// It knows no compiler: a driver.Kernel brings PTX, and the driver makes machine code of it
// on the kernel's first launch. Programs that are content with any device call gopherwarp.Open.
//
// Any goroutine may use a device and whatever belongs to it. A goroutine that waits for the
// GPU does not hold a thread: one goroutine of a device asks the driver for all of them.
// docs/runtime.md says who owns what.
package cuda
