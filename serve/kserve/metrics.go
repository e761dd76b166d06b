package kserve

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/serve/batch"
)

// Metrics is a prometheus.Collector for the metrics of models under Triton's names.
type Metrics struct {
	succeeded, failed, elements, batches *prometheus.CounterVec
	whole, queue, input, compute, output *prometheus.CounterVec // microseconds
	pending                              *prometheus.GaugeVec
}

// NewMetrics returns metrics of the given models. All values are 0.
func NewMetrics(models ...string) *Metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "nv_inference_" + name, Help: help}, []string{"model", "version"})
	}
	m := &Metrics{
		succeeded: counter("request_success", "Requests that were answered."),
		failed:    counter("request_failure", "Requests that failed."),
		elements:  counter("count", "Elements of inputs that were computed."),
		batches:   counter("exec_count", "Batches that were computed."),
		whole:     counter("request_duration_us", "Microseconds of all answered requests."),
		queue:     counter("queue_duration_us", "Microseconds that elements waited."),
		input:     counter("compute_input_duration_us", "Microseconds of inputs: 0, because they are a part of the computation."),
		compute:   counter("compute_infer_duration_us", "Microseconds that batches took to compute."),
		output:    counter("compute_output_duration_us", "Microseconds of outputs: 0, because they are a part of the computation."),
		pending: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "nv_inference_pending_request_count", Help: "Requests that wait or are computed.",
		}, []string{"model", "version"}),
	}
	for _, model := range models {
		for _, c := range m.counters() {
			c.WithLabelValues(model, Version)
		}
		m.pending.WithLabelValues(model, Version)
	}
	return m
}

// counters returns all counters.
func (m *Metrics) counters() []*prometheus.CounterVec {
	return []*prometheus.CounterVec{m.succeeded, m.failed, m.elements, m.batches, m.whole, m.queue, m.input, m.compute, m.output}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.counters() {
		c.Describe(to)
	}
	m.pending.Describe(to)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.counters() {
		c.Collect(to)
	}
	m.pending.Collect(to)
}

// Observe counts a batch of a model. The requests of the batch may have come through any protocol.
func (m *Metrics) Observe(model string, r batch.Report) {
	if r.Err != nil {
		return
	}
	m.elements.WithLabelValues(model, Version).Add(float64(r.Items))
	m.batches.WithLabelValues(model, Version).Inc()
	m.compute.WithLabelValues(model, Version).Add(micros(r.Took))
	for _, wait := range r.Waits {
		m.queue.WithLabelValues(model, Version).Add(micros(wait))
	}
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }

// Begin counts the start of a request for a model, through any protocol. Call end, with the error of the request, when the
// request ends.
func (m *Metrics) Begin(model string) (end func(error)) {
	began := time.Now()
	m.pending.WithLabelValues(model, Version).Inc()
	return func(err error) {
		m.pending.WithLabelValues(model, Version).Dec()
		switch {
		case err == nil:
			m.succeeded.WithLabelValues(model, Version).Inc()
			m.whole.WithLabelValues(model, Version).Add(micros(time.Since(began)))
		case !errors.Is(err, context.Canceled): // by a client that has left
			m.failed.WithLabelValues(model, Version).Inc()
		}
	}
}
