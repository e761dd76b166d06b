package nvml

import (
	"fmt"
	"time"
	"unsafe"
)

// Process is a process that uses a device.
type Process struct {
	PID      int
	Graphics bool   // a graphics process; otherwise a compute process
	Memory   Figure // bytes of device memory
	Instance int    // the MIG instance that the process uses; -1 for a whole device
}

// unknownBytes and noInstance are the library's values for unknown data.
const (
	unknownBytes = 1<<64 - 1
	noInstance   = 1<<32 - 1
)

// Processes returns the processes that use the device now. In a container, it returns only the
// container's processes.
func (d *Device) Processes() ([]Process, error) {
	if err := d.library.open(); err != nil {
		return nil, err
	}
	var all []Process
	for _, f := range []string{"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3"} {
		infos, err := d.processes(f)
		if err != nil {
			return nil, err
		}
		for _, i := range infos {
			p := Process{PID: int(i.pid), Graphics: f == "nvmlDeviceGetGraphicsRunningProcesses_v3", Instance: -1}
			if i.used != unknownBytes {
				p.Memory = Known(float64(i.used))
			}
			if i.instance != noInstance {
				p.Instance = int(i.instance)
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// processes repeats the call with larger buffers until all processes fit.
func (d *Device) processes(f string) ([]processInfo, error) {
	for room := uint32(64); room < 1<<16; room *= 4 {
		n, infos := room, make([]processInfo, room)
		switch s := d.library.calls.list(f, d.handle, &n, unsafe.Pointer(&infos[0])); s {
		case success:
			return infos[:min(n, room)], nil
		case InsufficientSize:
		case NotSupported, FunctionNotFound:
			return nil, nil
		default:
			return nil, failed(f, s)
		}
	}
	return nil, fmt.Errorf("nvml: %s: the number of processes keeps growing beyond the buffer", f)
}

// A ProcessLoad has the percentages of time in which a process kept the parts of a device busy.
type ProcessLoad struct {
	PID                           int
	GPU, Memory, Encoder, Decoder int
}

// ProcessLoads returns the latest load of each process, if it was measured after the given time. The device keeps only
// the measurements of the last few seconds. The result is empty if nothing ran, or if the device does not report loads.
func (d *Device) ProcessLoads(since time.Time) ([]ProcessLoad, error) {
	if err := d.library.open(); err != nil {
		return nil, err
	}
	const f = "nvmlDeviceGetProcessUtilization"
	w := &samples{since: uint64(since.UnixMicro()), n: 256}
	switch s := d.library.calls.samples(f, d.handle, w); s {
	case success:
	case NotFound, NotSupported, FunctionNotFound, NoPermission:
		return nil, nil
	default:
		return nil, failed(f, s)
	}
	latest := map[uint32]processSample{}
	for _, s := range w.values[:min(int(w.n), len(w.values))] {
		if s.microseconds >= latest[s.pid].microseconds {
			latest[s.pid] = s
		}
	}
	var all []ProcessLoad
	for _, s := range latest {
		all = append(all, ProcessLoad{int(s.pid), int(s.sm), int(s.memory), int(s.encoder), int(s.decoder)})
	}
	return all, nil
}
