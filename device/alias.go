package device

import "github.com/gopherwarp/gopherwarp/device/driver"

// Capability is a CUDA compute capability, with the fields Major and Minor: 9.0 is {9, 0}.
type Capability = driver.Capability

// Fault is a panic of a kernel: an index out of range, a division by zero, a call of panic.
// Synchronize returns a *Fault, which errors.As matches:
//
//	var f *device.Fault
//	if errors.As(s.Synchronize(ctx), &f) { ... }
//
// The fields Kernel, File, Line, Message, Block and Thread describe the panic. Launch is the number
// of the launch among the launches of its stream, starting with 1, or 0 if unknown. Launched is the
// line of the program that launched the kernel, or empty if unknown (see Device.RecordCallers).
type Fault = driver.Fault

// Info describes a device: its Kind ("cuda", "vulkan", "cpu" or "interp"), Index, Name, the Reason
// why no better kind was chosen, Memory in bytes, Capability, Bus, the version of the Driver, the number of
// Cores, and the Limits of a launch.
type Info = driver.Info

// Occupancy describes how many blocks of a kernel a device runs at once. Its fields are the number
// of multiprocessors or CPU cores (Cores), the number of blocks that each of them runs at once
// (Blocks), the number of threads in a block (Threads), the registers of a thread (Registers), and
// the bytes of local memory of a thread (Stack). Registers and Stack are 0 if unknown.
type Occupancy = driver.Occupancy

// Advice describes how managed memory will be used.
type Advice = driver.Advice

// The kinds of advice.
const (
	ReadMostly   Advice = driver.ReadMostly   // often read, seldom written: the device and the host keep copies
	PreferDevice Advice = driver.PreferDevice // the memory should stay on the device; the host may read it there
	PreferHost   Advice = driver.PreferHost   // the memory should stay on the host; kernels may read it there
)
