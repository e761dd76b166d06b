// Package phantom opens a device that looks like another one, but has no memory and runs nothing. A program that runs on it makes the same
// buffers in the same order as on the other device, so device.MemoryStats returns how much memory the program needs there:
//
//	dev := phantom.Open(gpu.Info())
//	defer dev.Close()
//	err := program(dev)
//	stats, err := dev.MemoryStats() // stats.Peak is what program needs on the GPU
//
// Downloads return zeros.
package phantom
