package nvml

import (
	"errors"
	"fmt"
	"strings"
)

// Device is a GPU, or a MIG partition of a GPU.
type Device struct {
	library *Library
	handle  handle
	index   int
	name    string
	uuid    string
	bus     Bus
	part    *Part
}

// Bus identifies a device's location in the machine.
type Bus struct {
	ID                           string // "0000:41:00.0"
	Device                       uint32 // PCI device and vendor, vendor in the lower half
	Minor                        int    // the minor number of /dev/nvidia0 and so on; -1 if there is none
	PCIDomain, PCIBus, PCIDevice int
}

// A Part identifies a device that is a MIG partition of a GPU.
type Part struct {
	GPU             *Device
	Instance        int // number of the GPU instance in the GPU
	ComputeInstance int // number of the compute instance in the GPU instance
}

// identify reads the properties that do not change.
func (d *Device) identify() (err error) {
	if d.name, err = d.library.text("nvmlDeviceGetName", d.handle); err != nil {
		return fmt.Errorf("%w of device %d", err, d.index)
	}
	if d.uuid, err = d.library.text("nvmlDeviceGetUUID", d.handle); err != nil {
		return fmt.Errorf("%w of device %d", err, d.index)
	}
	d.bus.Minor = -1
	var minor uint32
	if d.library.calls.number("nvmlDeviceGetMinorNumber", d.handle, &minor) == success {
		d.bus.Minor = int(minor)
	}
	info := new(pciInfo)
	if ask(d, "nvmlDeviceGetPciInfo_v3", info) == success {
		d.bus.ID, d.bus.Device = shortBus(until0(info.text[:])), info.deviceAndVendor
		d.bus.PCIDomain, d.bus.PCIBus, d.bus.PCIDevice = int(info.domain), int(info.bus), int(info.device)
	}
	return nil
}

// shortBus converts "00000000:41:00.0" to the form of the driver and Linux: "0000:41:00.0".
func shortBus(id string) string {
	if domain, rest, ok := strings.Cut(id, ":"); ok && len(domain) == 8 {
		return strings.ToLower(domain[4:] + ":" + rest)
	}
	return strings.ToLower(id)
}

// Index returns the device's index in the result of Library.Devices or, for a MIG partition, of
// Parts.
func (d *Device) Index() int { return d.index }

// Name returns the GPU's name: "NVIDIA H200".
func (d *Device) Name() string { return d.name }

// UUID returns the device's unique identifier, "GPU-5ac1..." or "MIG-...", which is the same in
// every process and after every restart.
func (d *Device) UUID() string { return d.uuid }

// Bus returns the location of the GPU. A MIG partition has the location of its GPU.
func (d *Device) Bus() Bus { return d.bus }

// Part returns the identity of the MIG partition, or nil if the device is a whole GPU.
func (d *Device) Part() *Part { return d.part }

// Serial returns the board's serial number, or "" if it has none.
func (d *Device) Serial() (string, error) {
	if err := d.library.open(); err != nil {
		return "", err
	}
	text, err := d.library.text("nvmlDeviceGetSerial", d.handle)
	if errors.Is(err, NotSupported) || errors.Is(err, FunctionNotFound) {
		return "", nil
	}
	return text, err
}

// Parts returns the MIG partitions of the GPU. A GPU without MIG has none.
func (d *Device) Parts() ([]*Device, error) {
	if err := d.library.open(); err != nil {
		return nil, err
	}
	c := &d.library.calls
	var now, next, most uint32
	if c.pair("nvmlDeviceGetMigMode", d.handle, &now, &next) != success || now == 0 {
		return nil, nil
	}
	if err := failed("nvmlDeviceGetMaxMigDeviceCount", c.number("nvmlDeviceGetMaxMigDeviceCount", d.handle, &most)); err != nil {
		return nil, err
	}
	var parts []*Device
	for i := range most {
		p := &Device{library: d.library, index: len(parts)}
		const f = "nvmlDeviceGetMigDeviceHandleByIndex"
		switch s := c.part(f, d.handle, i, &p.handle); s {
		case success:
		case NotFound, InvalidArgument: // no partition has this number
			continue
		default:
			return nil, failed(f, s)
		}
		if err := p.identify(); err != nil {
			return nil, err
		}
		p.bus = d.bus
		p.part = &Part{GPU: d, Instance: d.instance("nvmlDeviceGetGpuInstanceId", p), ComputeInstance: d.instance("nvmlDeviceGetComputeInstanceId", p)}
		parts = append(parts, p)
	}
	return parts, nil
}

func (d *Device) instance(f string, p *Device) int {
	var id uint32
	if d.library.calls.number(f, p.handle, &id) != success {
		return -1
	}
	return int(id)
}
