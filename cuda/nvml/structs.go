package nvml

// The structs below have the same layout as the library's structs on 64-bit machines ("NVML API
// Reference", "Device Structs").

// memoryInfo is nvmlMemory_v2_t.
type memoryInfo struct {
	version                     uint32
	total, reserved, free, used uint64
}

// memoryInfoVersion is the size of memoryInfo and the version of its layout.
const memoryInfoVersion = 40 | 2<<24

// barInfo is nvmlBAR1Memory_t.
type barInfo struct{ total, _, used uint64 }

// utilization is nvmlUtilization_t, in percent.
type utilization struct{ gpu, memory uint32 }

// pciInfo is nvmlPciInfo_t.
type pciInfo struct {
	_                   [16]byte // the bus with a short domain
	domain, bus, device uint32
	deviceAndVendor, _  uint32
	text                [32]byte
}

// processInfo is nvmlProcessInfo_t of the functions that end in _v3.
type processInfo struct {
	pid         uint32
	used        uint64
	instance, _ uint32
}

// processSample is nvmlProcessUtilizationSample_t.
type processSample struct {
	pid                          uint32
	microseconds                 uint64
	sm, memory, encoder, decoder uint32
}

// remapped holds the results of nvmlDeviceGetRemappedRows.
type remapped struct{ correctable, uncorrectable, pending, failed uint32 }

// fieldValue is nvmlFieldValue_t.
type fieldValue struct {
	field, scope uint32
	_, _         int64 // timestamp, latency
	kind         uint32
	status       Status
	value        [8]byte
}

// eventData is nvmlEventData_t.
type eventData struct {
	device      handle
	_, data     uint64 // kind
	instance, _ uint32
}
