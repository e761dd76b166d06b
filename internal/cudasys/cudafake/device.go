package cudafake

import "github.com/gopherwarp/gopherwarp/internal/cudasys"

// Driver returns the driver. Every call returns the same one.
func (f *Fake) Driver() *cudasys.Driver { return f.driver() }

func (f *Fake) newDriver() *cudasys.Driver {
	d := &cudasys.Driver{Library: "libcuda-fake.so.1"}
	f.addDevices(d)
	f.addContexts(d)
	f.addPeers(d)
	f.addMemory(d)
	f.addHostMemory(d)
	f.addPools(d)
	f.addCopies(d)
	f.addStreams(d)
	f.addEvents(d)
	f.addModules(d)
	f.addGraphs(d)
	return d
}

// attributes are those of an H200, except for the compute capability.
var attributes = map[cudasys.Attribute]int32{
	cudasys.MaxThreadsPerBlock:      1024,
	cudasys.MaxBlockDimX:            1024,
	cudasys.MaxBlockDimX + 1:        1024,
	cudasys.MaxBlockDimX + 2:        64,
	cudasys.MaxGridDimX:             1<<31 - 1,
	cudasys.MaxGridDimX + 1:         1<<16 - 1,
	cudasys.MaxGridDimX + 2:         1<<16 - 1,
	cudasys.MaxSharedMemoryPerBlock: sharedPerBlock,
	cudasys.MultiprocessorCount:     132,

	cudasys.MaxThreadsPerMultiprocessor:  threadsPerCore,
	cudasys.MaxSharedMemoryPerBlockOptin: sharedPerCore,
	cudasys.ManagedMemory:                1,
	cudasys.ConcurrentManagedAccess:      1,
	cudasys.CooperativeLaunch:            1,
}

func (f *Fake) addDevices(d *cudasys.Driver) {
	d.Init = func(uint32) cudasys.Status {
		return f.call("cuInit", func() cudasys.Status {
			if len(f.devices) == 0 {
				return cudasys.NoDevice
			}
			f.initialized = true
			return cudasys.Success
		})
	}
	d.DriverGetVersion = func(v *int32) cudasys.Status {
		return f.call("cuDriverGetVersion", func() cudasys.Status { return store(v, int32(f.Version)) })
	}
	d.DeviceGetCount = func(n *int32) cudasys.Status {
		return f.call("cuDeviceGetCount", func() cudasys.Status { return store(n, int32(len(f.devices))) })
	}
	d.DeviceGet = func(out *cudasys.Device, index int32) cudasys.Status {
		return f.onDevice("cuDeviceGet", cudasys.Device(index), func(*Device) cudasys.Status {
			return store(out, cudasys.Device(index))
		})
	}
	d.DeviceGetName = func(name []byte, i cudasys.Device) cudasys.Status {
		return f.onDevice("cuDeviceGetName", i, func(d *Device) cudasys.Status { return storeText(name, d.Name) })
	}
	d.DeviceGetPCIBusId = func(id []byte, i cudasys.Device) cudasys.Status {
		return f.onDevice("cuDeviceGetPCIBusId", i, func(d *Device) cudasys.Status { return storeText(id, d.Bus) })
	}
	d.DeviceGetAttribute = func(v *int32, a cudasys.Attribute, i cudasys.Device) cudasys.Status {
		return f.onDevice("cuDeviceGetAttribute", i, func(d *Device) cudasys.Status { return d.attribute(v, a) })
	}
	d.DeviceTotalMem = func(n *uintptr, i cudasys.Device) cudasys.Status {
		return f.onDevice("cuDeviceTotalMem", i, func(d *Device) cudasys.Status { return store(n, uintptr(d.Memory)) })
	}
}

// onDevice is call for functions that take a device and need no context.
func (f *Fake) onDevice(function string, i cudasys.Device, body func(d *Device) cudasys.Status) cudasys.Status {
	return f.call(function, func() cudasys.Status {
		if int(i) < 0 || int(i) >= len(f.devices) {
			return cudasys.InvalidDevice
		}
		return body(&f.devices[i])
	})
}

func (d *Device) attribute(v *int32, a cudasys.Attribute) cudasys.Status {
	switch a {
	case cudasys.CapabilityMajor:
		return store(v, int32(d.Major))
	case cudasys.CapabilityMinor:
		return store(v, int32(d.Minor))
	case cudasys.MemoryPoolsSupported:
		if d.NoPools {
			return store(v, 0)
		}
		return store(v, 1)
	}
	value, ok := attributes[a]
	if !ok {
		return cudasys.InvalidValue
	}
	return store(v, value)
}

func (f *Fake) addContexts(d *cudasys.Driver) {
	d.DevicePrimaryCtxRetain = func(out *cudasys.Context, i cudasys.Device) cudasys.Status {
		return f.onDevice("cuDevicePrimaryCtxRetain", i, func(*Device) cudasys.Status {
			c := f.primary(i)
			c.refs++
			return store(out, c.handle)
		})
	}
	d.DevicePrimaryCtxRelease = func(i cudasys.Device) cudasys.Status {
		return f.onDevice("cuDevicePrimaryCtxRelease", i, func(*Device) cudasys.Status {
			c := f.primary(i)
			if c.refs == 0 {
				return cudasys.InvalidContext
			}
			c.refs--
			return cudasys.Success
		})
	}
	d.CtxSetCurrent = func(c cudasys.Context) cudasys.Status {
		return f.call("cuCtxSetCurrent", func() cudasys.Status {
			if c != 0 && f.contexts[c] == nil {
				return cudasys.InvalidContext
			}
			f.current[thread()] = c
			return cudasys.Success
		})
	}
}

// addPeers adds the functions for peer access between devices.
func (f *Fake) addPeers(d *cudasys.Driver) {
	d.DeviceCanAccessPeer = func(can *int32, i, peer cudasys.Device) cudasys.Status {
		return f.onDevice("cuDeviceCanAccessPeer", i, func(*Device) cudasys.Status {
			if f.NoPeers || i == peer {
				return store(can, 0)
			}
			return store(can, 1)
		})
	}
	d.CtxEnablePeerAccess = func(peer cudasys.Context, _ uint32) cudasys.Status {
		return f.inContext("cuCtxEnablePeerAccess", func(c *context) cudasys.Status {
			switch {
			case f.contexts[peer] == nil || f.contexts[peer] == c:
				return cudasys.InvalidContext
			case c.peers[peer]:
				return cudasys.PeerAccessAlreadyEnabled
			}
			if c.peers == nil {
				c.peers = map[cudasys.Context]bool{}
			}
			c.peers[peer] = true
			return cudasys.Success
		})
	}
	d.MemPoolSetAccess = func(p cudasys.Pool, a *cudasys.PoolAccess) cudasys.Status {
		return f.call("cuMemPoolSetAccess", func() cudasys.Status {
			if f.pools[p] == nil || a.LocationType != cudasys.PoolOnDevice || a.Flags != cudasys.PoolReadWrite || int(a.LocationID) >= len(f.devices) {
				return cudasys.InvalidValue
			}
			return cudasys.Success
		})
	}
}

// primary returns the primary context of a device.
func (f *Fake) primary(i cudasys.Device) *context {
	for _, c := range f.contexts {
		if c.device == i {
			return c
		}
	}
	c := &context{handle: cudasys.Context(f.handle()), device: i}
	f.contexts[c.handle] = c
	return c
}

func store[T any](p *T, v T) cudasys.Status {
	*p = v
	return cudasys.Success
}

// storeText stores text, truncated to fit, with a terminating NUL.
func storeText(p []byte, text string) cudasys.Status {
	if len(p) == 0 {
		return cudasys.InvalidValue
	}
	n := copy(p[:len(p)-1], text)
	p[n] = 0
	return cudasys.Success
}
