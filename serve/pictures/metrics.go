package pictures

import "github.com/prometheus/client_golang/prometheus"

// metrics are the metrics of a Classifier, whose names have no model in other servers.
type metrics struct {
	request prometheus.Histogram
	batch   prometheus.Histogram
}

// newMetrics returns metrics without values.
func newMetrics(model string) *metrics {
	histogram := func(name, help string, least float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gopherwarp_pictures_" + name, Help: help, ConstLabels: prometheus.Labels{"model_name": model}, Buckets: prometheus.ExponentialBuckets(least, 2, 18),
		})
	}
	return &metrics{
		histogram("request_seconds", "Seconds from the contents of a request's files to its classes.", 1e-4),
		histogram("batch", "Pictures in a batch.", 1),
	}
}

// Metrics returns the metrics of all models: the times of requests, the sizes of batches, and the pictures that wait. The Handler also serves them
// at /metrics.
func (h *Handler) Metrics() (list []prometheus.Collector) {
	for name, c := range h.classifiers {
		waiting := prometheus.GaugeOpts{Name: "gopherwarp_pictures_waiting", Help: "Pictures that wait.", ConstLabels: prometheus.Labels{"model_name": name}}
		list = append(list, c.metrics.request, c.metrics.batch, prometheus.NewGaugeFunc(waiting, func() float64 { return float64(c.queue.Stats().Waiting) }))
	}
	return list
}
