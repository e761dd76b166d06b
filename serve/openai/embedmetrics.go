package openai

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// embedMetrics are the metrics of an Embedder, under the names of Text Embeddings Inference.
type embedMetrics struct {
	requests, succeeded, texts, done           prometheus.Counter
	failed                                     *prometheus.CounterVec
	duration, tokenization, waiting, inference prometheus.Histogram
	batchTexts, batchTokens                    prometheus.Histogram
}

func newEmbedMetrics(model string) *embedMetrics {
	labels := prometheus.Labels{"model_name": model}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels})
	}
	histogram := func(name, help string, least float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(least, 2, 18)})
	}
	failed := prometheus.CounterOpts{Name: "te_request_failure", Help: "Requests that failed, by reason.", ConstLabels: labels}
	return &embedMetrics{
		requests: counter("te_request_count", "Requests."), succeeded: counter("te_request_success", "Requests that were answered."),
		texts: counter("te_embed_count", "Texts of requests."), done: counter("te_embed_success", "Texts whose vectors were computed."),
		failed:       prometheus.NewCounterVec(failed, []string{"err"}),
		duration:     histogram("te_request_duration", "Seconds from the arrival of a request to its vectors.", 1e-4),
		tokenization: histogram("te_request_tokenization_duration", "Seconds that a request's texts took to tokenize.", 1e-5),
		waiting:      histogram("te_request_queue_duration", "Seconds that texts waited.", 1e-5),
		inference:    histogram("te_request_inference_duration", "Seconds that batches took to compute.", 1e-4),
		batchTexts:   histogram("te_batch_next_size", "Texts in a batch.", 1), batchTokens: histogram("te_batch_next_tokens", "Tokens in a batch.", 1),
	}
}

// all returns the metrics to register.
func (m *embedMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.succeeded, m.texts, m.done, m.failed, m.duration, m.tokenization, m.waiting, m.inference, m.batchTexts, m.batchTokens}
}

// observe is called after each batch.
func (m *embedMetrics) observe(r batch.Report) {
	for _, wait := range r.Waits {
		m.waiting.Observe(wait.Seconds())
	}
	m.inference.Observe(r.Took.Seconds())
	m.batchTexts.Observe(float64(r.Items))
	m.batchTokens.Observe(float64(r.Size))
	if r.Err == nil {
		m.done.Add(float64(r.Items))
	}
}

// end counts the end of a request.
func (m *embedMetrics) end(began time.Time, err error) {
	f, isFailure := errors.AsType[gate.Failure](err)
	switch {
	case err == nil:
		m.succeeded.Inc()
		m.duration.Observe(time.Since(began).Seconds())
	case errors.Is(err, batch.ErrFull):
		m.failed.WithLabelValues("overloaded").Inc()
	case isFailure && f.Status < 500:
		m.failed.WithLabelValues("validation").Inc()
	default:
		m.failed.WithLabelValues("backend").Inc()
	}
}
