package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/device"
)

// Runtime is a collector of a program's use of devices.
type Runtime struct {
	devices []*device.Device
	labels  []prometheus.Labels
}

// NewRuntime returns a collector for the given devices, which must stay open while the collector is
// in use.
func NewRuntime(devices ...*device.Device) *Runtime {
	r := &Runtime{devices: devices}
	for _, d := range devices {
		info := d.Info()
		r.labels = append(r.labels, prometheus.Labels{"device": info.Kind + ":" + strconv.Itoa(info.Index), "name": info.Name})
	}
	return r
}

// Describe implements prometheus.Collector. It describes no metrics, because they depend on the
// devices. Prometheus therefore treats the collector as unchecked.
func (r *Runtime) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (r *Runtime) Collect(to chan<- prometheus.Metric) {
	for i, d := range r.devices {
		o := output{to, r.labels[i]}
		o.work(d.Counters())
		o.memory(d)
	}
}

// output is a channel for the metrics of one device.
type output struct {
	to     chan<- prometheus.Metric
	labels prometheus.Labels
}

func (o output) number(kind prometheus.ValueType, name, help string, v float64) {
	o.to <- prometheus.MustNewConstMetric(prometheus.NewDesc("gopherwarp_"+name, help, nil, o.labels), kind, v)
}

func (o output) work(c device.Counters) {
	calls := prometheus.NewDesc("gopherwarp_work_total", "Operations enqueued on streams.", []string{"kind"}, o.labels)
	bytes := prometheus.NewDesc("gopherwarp_work_bytes_total", "Bytes copied or filled.", []string{"kind"}, o.labels)
	for _, w := range []struct {
		kind  string
		count device.Count
		moves bool
	}{
		{"launch", c.Launches, false}, {"graph", c.Graphs, false}, {"upload", c.Uploads, true}, {"download", c.Downloads, true},
		{"copy", c.Copies, true}, {"peer_copy", c.PeerCopies, true}, {"fill", c.Fills, true},
	} {
		o.to <- prometheus.MustNewConstMetric(calls, counter, float64(w.count.Calls), w.kind)
		if w.moves {
			o.to <- prometheus.MustNewConstMetric(bytes, counter, float64(w.count.Bytes), w.kind)
		}
	}
	o.number(counter, "waits_total", "Calls that waited for a stream.", float64(c.Waits))
	o.number(counter, "wait_seconds_total", "Time spent in calls that waited for a stream.", c.Waiting.Seconds())
	o.number(counter, "faults_total", "Faults of kernels.", float64(c.Faults))
}

// memory sends the metrics of the device's memory. A device that is closed or lost has none.
func (o output) memory(d *device.Device) {
	m, err := d.MemoryStats()
	if err != nil {
		return
	}
	o.number(gauge, "memory_used_bytes", "Device memory allocated to buffers.", float64(m.Used))
	o.number(gauge, "memory_peak_bytes", "Maximum of the device memory allocated to buffers.", float64(m.Peak))
	o.number(gauge, "memory_reserved_bytes", "Device memory reserved by the pool.", float64(m.Reserved))
	o.number(gauge, "memory_pinned_bytes", "Pinned host memory.", float64(m.Pinned))
	o.number(gauge, "buffers", "Open buffers.", float64(m.Buffers))
}
