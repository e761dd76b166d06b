package nvml

import (
	"errors"
	"runtime"
	"sync"
)

// Usage describes how busy the units of a device were between two samples of its counters. GPUs
// from Hopper on have these counters. Unlike Load, Usage distinguishes a fully used GPU from a GPU
// that runs a small kernel. Figures without a unit are percentages of what the whole device could
// have done.
type Usage struct {
	Graphics  Figure // the time in which any work ran
	SM        Figure // multiprocessors that had work
	Occupancy Figure // resident warps, relative to the maximum
	Tensor    Figure // tensor cores
	FP64      Figure
	FP32      Figure
	FP16      Figure
	Memory    Figure // bandwidth of the device's memory
	Sent      Figure // bytes per second over PCI Express
	Received  Figure
}

// Sample is a snapshot of a device's counters. Close it after use.
type Sample struct {
	device *Device
	handle handle
}

// gpmCount is the number of figures that Since reads.
const gpmCount = 10

// gpmMetric is nvmlGpmMetric_t.
type gpmMetric struct {
	id     uint32
	status Status
	value  float64
	_      [3]uintptr // names
}

// gpmMetrics is nvmlGpmMetricsGet_t. Its array may be shorter than the library's own.
type gpmMetrics struct {
	version, count uint32
	first, second  handle
	metrics        [gpmCount]gpmMetric
}

// gpmSupport is nvmlGpmSupport_t.
type gpmSupport struct{ version, supported uint32 }

// Sample takes a snapshot of the device's counters (see Usage). If the device has no counters, the
// error is NotSupported.
func (d *Device) Sample() (*Sample, error) {
	l := d.library
	if err := l.open(); err != nil {
		return nil, err
	}
	const query, alloc, get = "nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlGpmSampleGet"
	support := &gpmSupport{version: 1}
	if err := failed(query, ask(d, query, support)); err != nil {
		return nil, err
	}
	if support.supported == 0 {
		return nil, &Error{query, NotSupported}
	}
	s := &Sample{device: d}
	if err := failed(alloc, l.calls.create(alloc, &s.handle)); err != nil {
		return nil, err
	}
	if err := failed(get, l.calls.sample(get, d.handle, s.handle)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close frees the sample.
func (s *Sample) Close() error {
	const f = "nvmlGpmSampleFree"
	if err := s.device.library.open(); err != nil {
		return err
	}
	return failed(f, s.device.library.calls.release(f, s.handle))
}

// Since returns the usage between an earlier sample of the same device and s. The samples should be
// at least 0.1 s apart.
func (s *Sample) Since(earlier *Sample) (Usage, error) {
	l := s.device.library
	if err := l.open(); err != nil {
		return Usage{}, err
	}
	var u Usage
	wanted := [gpmCount]struct {
		id    uint32
		scale float64
		to    *Figure
	}{
		{1, 1, &u.Graphics}, {2, 1, &u.SM}, {3, 1, &u.Occupancy}, {5, 1, &u.Tensor}, {10, 1, &u.Memory}, {11, 1, &u.FP64}, {12, 1, &u.FP32}, {13, 1, &u.FP16},
		{20, 1 << 20, &u.Sent}, {21, 1 << 20, &u.Received},
	}
	m := &gpmMetrics{version: 1, count: gpmCount, first: earlier.handle, second: s.handle}
	for i, w := range wanted {
		m.metrics[i].id = w.id
	}
	const f = "nvmlGpmMetricsGet"
	err := failed(f, l.calls.metrics(f, m))
	for i, w := range wanted {
		if v := m.metrics[i]; err == nil && v.status == success {
			*w.to = Known(v.value * w.scale)
		}
	}
	return u, err
}

// A Meter reads a device's usage since the previous reading. Multiple goroutines may invoke its
// methods simultaneously.
type Meter struct {
	device *Device
	mu     sync.Mutex
	last   *Sample // or nil
}

// Meter returns a meter for the device.
func (d *Device) Meter() *Meter { return &Meter{device: d} }

// Usage returns the usage since the previous call. Its figures are unknown at the first call, and
// if the device has no counters or does not permit access to them.
func (m *Meter) Usage() (Usage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, err := m.device.Sample()
	if errors.Is(err, NotSupported) || errors.Is(err, FunctionNotFound) || errors.Is(err, NoPermission) {
		return Usage{}, nil
	}
	if err != nil {
		return Usage{}, err
	}
	before := m.last
	m.last = now
	if before == nil {
		return Usage{}, nil
	}
	u, err := now.Since(before)
	return u, errors.Join(err, before.Close())
}

func (l *table) metrics(f string, m *gpmMetrics) Status {
	s := l.call(f, pointer(m))
	runtime.KeepAlive(m)
	return s
}
