// Package vulkan runs kernels on GPUs of any maker whose driver speaks Vulkan 1.2: AMD, Intel, Qualcomm, NVIDIA, and Apple through
// MoltenVK. It has been tested on Mesa's software device llvmpipe, and in part on an NVIDIA H200. It needs only the
// driver and Vulkan's loader: neither cgo nor an SDK.
//
//	dev, err := vulkan.Open(0)                    // *device.Device
//	if errors.Is(err, vulkan.ErrNoLoader) { ... } // or ErrNoDevice, ErrFeatures
//	s, err := dev.NewStream()                     // then package device and generated launchers
//
// The package contains no compiler: the PTX of a kernel is translated to SPIR-V at its first launch with each block size. If a kernel
// needs what the device lacks (tensor cores, clusters, 64-bit atomics in shared memory), its launch returns an error that
// matches device.ErrNoVariant.
//
// Work runs in order. It is handed to the GPU when a stream is waited for, or when much of it has been collected. A kernel that hangs, or
// one that was compiled without checks and accesses memory out of bounds, costs the device, not the process: all later calls return
// ErrLost, until the program closes the device and opens it again.
package vulkan
