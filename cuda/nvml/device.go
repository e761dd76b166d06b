package nvml

import (
	"errors"
	"fmt"
	"strings"
)

// Device is a GPU, or a part of one that MIG made of it.
type Device struct {
	library *Library
	handle  handle
	index   int
	name    string
	uuid    string
	bus     Bus
	part    *Part
}

// Bus is a device's place in the machine.
type Bus struct {
	ID                           string // "0000:41:00.0"
	Device                       uint32 // PCI device and vendor, vendor in the lower half
	Minor                        int    // of /dev/nvidia0; -1 where there is none
	PCIDomain, PCIBus, PCIDevice int
}

// Part says which part of a GPU a device is.
type Part struct {
	GPU             *Device
	Instance        int // of the GPU
	ComputeInstance int // of the instance
}

// identify asks for what does not change.
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

// shortBus makes "00000000:41:00.0" what the driver and Linux say: "0000:41:00.0".
func shortBus(id string) string {
	if domain, rest, ok := strings.Cut(id, ":"); ok && len(domain) == 8 {
		return strings.ToLower(domain[4:] + ":" + rest)
	}
	return strings.ToLower(id)
}

// Index returns the device's number in Devices, or in Parts.
func (d *Device) Index() int { return d.index }

// Name returns the GPU's name: "NVIDIA H200".
func (d *Device) Name() string { return d.name }

// UUID returns the identity that is the same in every process and after every restart:
// "GPU-5ac1...", or "MIG-...".
func (d *Device) UUID() string { return d.uuid }

// Bus returns where the GPU is. A part is where its GPU is.
func (d *Device) Bus() Bus { return d.bus }

// Part says which part of a GPU the device is, or nil where it is a whole one.
func (d *Device) Part() *Part { return d.part }

// Serial returns the board's serial number, or "" where it has none.
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

// Parts returns the parts that MIG made of the GPU, or none where it is whole.
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
		case NotFound, InvalidArgument: // no part has this number
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
