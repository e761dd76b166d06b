// Package vulkan runs kernels on GPUs whose driver supports Vulkan 1.2: GPUs of AMD, Intel, Qualcomm and NVIDIA, and perhaps of Apple
// through MoltenVK. It has been tested only on Mesa's software device llvmpipe, and in part on an NVIDIA H200. It needs only the driver and Vulkan's
// loader: neither cgo nor an SDK.
//
//	dev, err := vulkan.Open(0)                    // *device.Device
//	if errors.Is(err, vulkan.ErrNoLoader) { ... } // or ErrNoDevice, ErrFeatures
//	s, err := dev.NewStream()                     // for package device and generated launchers
//
// Kernels need no separate compilation for Vulkan: at a kernel's first launch with each block size, the package translates the kernel's PTX
// to SPIR-V. If a kernel needs a feature that the device lacks, such as tensor cores, its launch returns an error that matches
// device.ErrNoVariant.
//
// The commands of all streams run one after another. The package collects enqueued work, and submits the work to the
// GPU when the program waits for a stream, or when there is much work. If a kernel hangs, or if a kernel without checks
// accesses memory out of bounds, the program loses the device (see ErrLost).
package vulkan
