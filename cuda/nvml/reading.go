package nvml

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// Figure is a number that some devices do not report.
type Figure struct {
	value float64
	known bool
}

// Known returns a known figure, for tests of code that displays readings.
func Known(v float64) Figure { return Figure{v, true} }

// Get returns the number and whether it is known.
func (f Figure) Get() (float64, bool) { return f.value, f.known }

// String returns the number, or "-".
func (f Figure) String() string {
	if !f.known {
		return "-"
	}
	return fmt.Sprintf("%.6g", f.value)
}

// Reading is the state of a device at one moment. Values that the device does not report are
// unknown.
type Reading struct {
	Load        Load
	Memory      Memory
	Power       Figure // watts
	PowerLimit  Figure // watts
	Energy      Figure // joules since the driver was loaded
	Temperature Temperature
	Clocks      Clocks
	Link        Link
	Errors      Errors
	Modes       Modes
}

// Load has, for each part of a device, the percentage of time in which the part was busy during the
// last second or less. The GPU counts as busy while any kernel runs, even if the kernel uses few
// multiprocessors.
type Load struct{ GPU, Memory, Encoder, Decoder Figure }

// Memory has the sizes, in bytes, of the device's memory and of its window in the address space of
// the host (BAR1).
type Memory struct{ Total, Used, Free, Reserved, WindowTotal, WindowUsed Figure }

// A Temperature is in degrees Celsius. At Slowdown and above, the device reduces its clock rates.
type Temperature struct{ GPU, Memory, Slowdown, Shutdown Figure }

// Clocks are the clock rates in MHz. Held contains the reasons why the rates are not higher.
type Clocks struct {
	Graphics, SM, Memory, Video Figure
	MaxSM, MaxMemory            Figure
	State                       Figure // 0 is the fastest performance state, 15 the slowest
	Held                        Reasons
}

// Link is the device's connection to the host and to other GPUs.
type Link struct {
	Generation, MaxGeneration Figure // of PCI Express
	Width, MaxWidth           Figure // lanes
	Replays                   Figure // transfers that were repeated
	NVLinkSent                Figure // bytes over all links, since the driver was loaded
	NVLinkReceived            Figure
}

// Errors counts memory errors: Corrected and Uncorrected since the driver was loaded, LifeCorrected
// and LifeUncorrected over the device's lifetime.
type Errors struct {
	Corrected, Uncorrected         Figure
	LifeCorrected, LifeUncorrected Figure
	RowsCorrected, RowsUncorrected Figure // rows of memory that spare rows have replaced, after corrected errors and after uncorrected errors
	RowsPending, RowsFailed        Figure // RowsPending is 1 if a row will be replaced at the next reset; RowsFailed is 1 if no spare row was left
}

// Modes are settings of the device.
type Modes struct {
	Persistence Figure // 1 if the driver keeps an idle device initialized
	Compute     Figure // 0: any number of processes may use the device; 2: none; 3: one
	ECC         Figure // 1 if memory errors are corrected
	MIG         Figure // 1 if the device is partitioned
}

// Reasons are the reasons why clock rates are not higher, as the library's bit mask.
type Reasons uint64

// reasonNames are the names of the library's bits, in order.
var reasonNames = []string{
	"idle", "application setting", "power cap", "hardware slowdown", "sync boost",
	"software thermal slowdown", "hardware thermal slowdown", "power brake", "display setting",
}

// Names returns readable names of the reasons, such as "power cap".
func (r Reasons) Names() (names []string) {
	for bit, name := range reasonNames {
		if r&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Read reads all values that can be read quickly. It takes some tenths of a millisecond. If the
// device does not respond, it returns an error such as GPUIsLost.
func (d *Device) Read() (Reading, error) {
	if err := d.library.open(); err != nil {
		return Reading{}, err
	}
	a := &asker{d: d}
	r := Reading{
		Load: a.load(), Memory: a.memory(),
		Power: a.number("nvmlDeviceGetPowerUsage", 1e-3), PowerLimit: a.number("nvmlDeviceGetEnforcedPowerLimit", 1e-3),
		Energy:      a.wide("nvmlDeviceGetTotalEnergyConsumption", 1e-3),
		Temperature: a.temperature(), Clocks: a.clocks(), Link: a.link(), Errors: a.errors(), Modes: a.modes(),
	}
	a.fields(&r)
	return r, a.err
}

// Traffic is the traffic over PCI Express, in bytes per second.
type Traffic struct{ Sent, Received Figure }

// Traffic measures the traffic over PCI Express. It takes about 40 ms.
func (d *Device) Traffic() (Traffic, error) {
	if err := d.library.open(); err != nil {
		return Traffic{}, err
	}
	a := &asker{d: d}
	t := Traffic{a.chosen("nvmlDeviceGetPcieThroughput", 0, 1000), a.chosen("nvmlDeviceGetPcieThroughput", 1, 1000)}
	return t, a.err
}

// asker reads values of a device, and keeps the error that makes further calls pointless.
type asker struct {
	d   *Device
	err error
}

// figure returns v times scale, if the call succeeded.
func (a *asker) figure(f string, s Status, v float64) Figure {
	switch s {
	case success:
		return Known(v)
	case GPUIsLost, ResetRequired, Uninitialized:
		if a.err == nil {
			a.err = &Error{f, s}
		}
	}
	return Figure{}
}

func (a *asker) number(f string, scale float64) Figure {
	var v uint32
	s := a.d.library.calls.number(f, a.d.handle, &v)
	return a.figure(f, s, float64(v)*scale)
}

func (a *asker) wide(f string, scale float64) Figure {
	var v uint64
	s := a.d.library.calls.wide(f, a.d.handle, &v)
	return a.figure(f, s, float64(v)*scale)
}

func (a *asker) chosen(f string, which uint32, scale float64) Figure {
	var v uint32
	s := a.d.library.calls.chosen(f, a.d.handle, which, &v)
	return a.figure(f, s, float64(v)*scale)
}

// first returns the first value of a pair.
func (a *asker) first(f string) Figure {
	var v, other uint32
	s := a.d.library.calls.pair(f, a.d.handle, &v, &other)
	return a.figure(f, s, float64(v))
}

// ask fills a struct.
func ask[T any](d *Device, f string, out *T) Status {
	return d.library.calls.record(f, d.handle, unsafe.Pointer(out))
}

func (a *asker) load() Load {
	const f = "nvmlDeviceGetUtilizationRates"
	u := new(utilization)
	s := ask(a.d, f, u)
	return Load{
		GPU: a.figure(f, s, float64(u.gpu)), Memory: a.figure(f, s, float64(u.memory)),
		Encoder: a.first("nvmlDeviceGetEncoderUtilization"), Decoder: a.first("nvmlDeviceGetDecoderUtilization"),
	}
}

func (a *asker) memory() Memory {
	const f, g = "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetBAR1MemoryInfo"
	m, bar := &memoryInfo{version: memoryInfoVersion}, new(barInfo)
	s, t := ask(a.d, f, m), ask(a.d, g, bar)
	return Memory{
		Total: a.figure(f, s, float64(m.total)), Used: a.figure(f, s, float64(m.used)),
		Free: a.figure(f, s, float64(m.free)), Reserved: a.figure(f, s, float64(m.reserved)),
		WindowTotal: a.figure(g, t, float64(bar.total)), WindowUsed: a.figure(g, t, float64(bar.used)),
	}
}

func (a *asker) temperature() Temperature {
	const at = "nvmlDeviceGetTemperatureThreshold"
	return Temperature{GPU: a.chosen("nvmlDeviceGetTemperature", 0, 1), Shutdown: a.chosen(at, 0, 1), Slowdown: a.chosen(at, 1, 1)}
}

func (a *asker) clocks() Clocks {
	const now, most = "nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo"
	held := a.wide("nvmlDeviceGetCurrentClocksEventReasons", 1)
	if !held.known {
		held = a.wide("nvmlDeviceGetCurrentClocksThrottleReasons", 1)
	}
	return Clocks{
		Graphics: a.chosen(now, 0, 1), SM: a.chosen(now, 1, 1), Memory: a.chosen(now, 2, 1), Video: a.chosen(now, 3, 1),
		MaxSM: a.chosen(most, 1, 1), MaxMemory: a.chosen(most, 2, 1),
		State: a.number("nvmlDeviceGetPerformanceState", 1), Held: Reasons(held.value),
	}
}

func (a *asker) link() Link {
	return Link{
		Generation: a.number("nvmlDeviceGetCurrPcieLinkGeneration", 1), MaxGeneration: a.number("nvmlDeviceGetMaxPcieLinkGeneration", 1),
		Width: a.number("nvmlDeviceGetCurrPcieLinkWidth", 1), MaxWidth: a.number("nvmlDeviceGetMaxPcieLinkWidth", 1),
		Replays: a.number("nvmlDeviceGetPcieReplayCounter", 1),
	}
}

func (a *asker) errors() Errors {
	const f = "nvmlDeviceGetRemappedRows"
	count := func(kind, counter uint32) Figure {
		const f = "nvmlDeviceGetTotalEccErrors"
		var v uint64
		s := a.d.library.calls.errors(f, a.d.handle, eccCounter{kind, counter}, &v)
		return a.figure(f, s, float64(v))
	}
	rows := new(remapped)
	s := a.d.library.calls.rows(f, a.d.handle, rows)
	return Errors{
		Corrected: count(0, 0), Uncorrected: count(1, 0), LifeCorrected: count(0, 1), LifeUncorrected: count(1, 1),
		RowsCorrected: a.figure(f, s, float64(rows.correctable)), RowsUncorrected: a.figure(f, s, float64(rows.uncorrectable)),
		RowsPending: a.figure(f, s, float64(rows.pending)), RowsFailed: a.figure(f, s, float64(rows.failed)),
	}
}

func (a *asker) modes() Modes {
	return Modes{
		Persistence: a.number("nvmlDeviceGetPersistenceMode", 1), Compute: a.number("nvmlDeviceGetComputeMode", 1),
		ECC: a.first("nvmlDeviceGetEccMode"), MIG: a.first("nvmlDeviceGetMigMode"),
	}
}

// Fields of nvmlDeviceGetFieldValues, and the scope for all links.
const (
	fieldMemoryTemperature = 82
	fieldNVLinkSent        = 138 // KiB
	fieldNVLinkReceived    = 139 // KiB
	allLinks               = math.MaxUint32
)

// fields reads the values that are available only as fields.
func (a *asker) fields(r *Reading) {
	const f = "nvmlDeviceGetFieldValues"
	v := []fieldValue{{field: fieldMemoryTemperature}, {field: fieldNVLinkSent, scope: allLinks}, {field: fieldNVLinkReceived, scope: allLinks}}
	if s := a.d.library.calls.fields(f, a.d.handle, v); s != success {
		a.figure(f, s, 0)
		return
	}
	r.Temperature.Memory = v[0].figure(1)
	r.Link.NVLinkSent, r.Link.NVLinkReceived = v[1].figure(1024), v[2].figure(1024)
}

// figure returns the value of a field according to its type (nvmlValueType_t).
func (v *fieldValue) figure(scale float64) Figure {
	if v.status != success {
		return Figure{}
	}
	bits := binary.NativeEndian.Uint64(v.value[:])
	short := binary.NativeEndian.Uint32(v.value[:])
	switch v.kind {
	case 0:
		return Known(math.Float64frombits(bits) * scale)
	case 1:
		return Known(float64(short) * scale)
	case 2, 3:
		return Known(float64(bits) * scale)
	case 4:
		return Known(float64(int64(bits)) * scale)
	case 5:
		return Known(float64(int32(short)) * scale)
	}
	return Figure{}
}
