package cuda

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// List returns the descriptions of the devices that the driver sees, in the driver's order. If
// there is no driver or the driver does not work, the error is an *Unavailable.
func List() ([]driver.Info, error) { return here().list() }

// Open opens the device with the given index in List. If the device cannot be used, the error is an
// *Unavailable. Close the device after use.
func Open(index int) (*device.Device, error) { return here().openDevice(index) }

func (m machine) list() ([]driver.Info, error) {
	d, err := m.start()
	if err != nil {
		return nil, err
	}
	n, err := m.count(d)
	if err != nil {
		return nil, err
	}
	var infos []driver.Info
	for i := range n {
		_, info, err := m.describe(d, i)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (m machine) openDevice(index int) (*device.Device, error) {
	d, err := m.start()
	if err != nil {
		return nil, err
	}
	n, err := m.count(d)
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= n {
		return nil, &Unavailable{
			What: fmt.Sprintf("there is no CUDA device %d", index), Kind: ErrNoDevice,
			Means: fmt.Sprintf("The driver sees %d, numbered from 0.", n),
			Do:    "Use one of these numbers.",
		}
	}
	handle, info, err := m.describe(d, index)
	if err != nil {
		return nil, err
	}
	b, err := newBackend(d, handle, info)
	if err != nil {
		return nil, deviceFailed(index, info.Name, err)
	}
	return device.New(b), nil
}

// count returns the number of devices, at least 1.
func (m machine) count(d *cudasys.Driver) (int, error) {
	var n int32
	if s := d.DeviceGetCount(&n); s != cudasys.Success {
		return 0, &Error{Call: "cuDeviceGetCount", Status: s}
	}
	if n == 0 {
		return 0, m.noDevice(nil)
	}
	return int(n), nil
}

// describe returns the handle and the description of a device.
func (m machine) describe(d *cudasys.Driver, index int) (cudasys.Device, driver.Info, error) {
	q := query{driver: d}
	q.check("cuDeviceGet", d.DeviceGet(&q.device, int32(index)))
	info := driver.Info{
		Kind: "cuda", Index: index,
		Name:       q.text("cuDeviceGetName", d.DeviceGetName),
		Bus:        q.text("cuDeviceGetPCIBusId", d.DeviceGetPCIBusId),
		Memory:     q.memory(),
		Capability: driver.Capability{Major: q.attribute(cudasys.CapabilityMajor), Minor: q.attribute(cudasys.CapabilityMinor)},
		Driver:     m.versions(d),
		Cores:      q.attribute(cudasys.MultiprocessorCount),
		GPU:        true,
		Limits: driver.Limits{
			ThreadsPerBlock: q.attribute(cudasys.MaxThreadsPerBlock),
			Block:           q.attribute3(cudasys.MaxBlockDimX),
			Grid:            q.attribute3(cudasys.MaxGridDimX),
			SharedPerBlock:  q.attribute(cudasys.MaxSharedMemoryPerBlock),
			SharedDynamic:   q.attribute(cudasys.MaxSharedMemoryPerBlockOptin),
			Cooperative:     q.attribute(cudasys.CooperativeLaunch) != 0,
		},
	}
	if info.Capability.Major >= 9 {
		info.Limits.ClusterBlocks = mostCluster
	}
	if q.err != nil {
		return 0, driver.Info{}, about(q.err, fmt.Sprintf("device %d", index))
	}
	return q.device, info, nil
}

// mostCluster is the size of the largest cluster of any GPU. Some GPUs have smaller ones.
const mostCluster = 16

// query reads attributes of a device and keeps the first error.
type query struct {
	driver *cudasys.Driver
	device cudasys.Device
	err    error
}

func (q *query) check(call string, s Status) {
	if s != cudasys.Success && q.err == nil {
		q.err = &Error{Call: call, Status: s}
	}
}

func (q *query) attribute(a cudasys.Attribute) int {
	var v int32
	q.check("cuDeviceGetAttribute", q.driver.DeviceGetAttribute(&v, a, q.device))
	return int(v)
}

// attribute3 returns an attribute for x and the two that follow it, for y and z.
func (q *query) attribute3(x cudasys.Attribute) [3]int {
	return [3]int{q.attribute(x), q.attribute(x + 1), q.attribute(x + 2)}
}

func (q *query) text(call string, get func([]byte, cudasys.Device) Status) string {
	buf := make([]byte, 256)
	q.check(call, get(buf, q.device))
	return text(buf)
}

func (q *query) memory() int64 {
	var n uintptr
	q.check("cuDeviceTotalMem", q.driver.DeviceTotalMem(&n, q.device))
	return int64(n)
}

// versions returns the driver's version, if the system reports it, and its CUDA version:
// "580.159.04, CUDA 13.0".
func (m machine) versions(d *cudasys.Driver) string {
	level := cudaLevel(d)
	if v := m.moduleVersion(); v != "" {
		return v + ", " + level
	}
	return level
}

// cudaLevel returns the newest version of CUDA whose functions the driver has.
func cudaLevel(d *cudasys.Driver) string {
	var v int32
	if s := d.DriverGetVersion(&v); s != cudasys.Success {
		return "CUDA of unknown version"
	}
	return fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
}

// OpenOn is like Open, with a driver that the caller supplies. It is for tests of other packages of
// this module; other modules cannot make a driver.
func OpenOn(d *cudasys.Driver, index int) (*device.Device, error) {
	m := here()
	m.load = func() (*cudasys.Driver, error) { return d, nil }
	return m.openDevice(index)
}
