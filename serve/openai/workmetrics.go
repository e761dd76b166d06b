package openai

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// workMetrics are the metrics of a worker, under the names of Text Embeddings Inference.
type workMetrics struct {
	requests, succeeded, texts, done           prometheus.Counter
	failed                                     *prometheus.CounterVec
	duration, tokenization, waiting, inference prometheus.Histogram
	batchTexts, batchTokens                    prometheus.Histogram
	lengths                                    prometheus.Histogram
	each                                       eachText
}

// eachText are the metrics with a value for each text: its time from the arrival of the request to the results, and the parts of this time.
type eachText struct{ duration, tokenization, waiting, inference prometheus.Histogram }

// newWorkMetrics returns metrics without values. does is what the model does with a text, in the names of Text Embeddings Inference: embed or
// predict. A text is a pair of texts if the model takes pairs.
func newWorkMetrics(model, does string) *workMetrics {
	labels := prometheus.Labels{"model_name": model}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels})
	}
	histogram := func(name, help string, least float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(least, 2, 18)})
	}
	failed := prometheus.CounterOpts{Name: "te_request_failure", Help: "Requests that failed, by reason.", ConstLabels: labels}
	return &workMetrics{
		requests: counter("te_request_count", "Requests."), succeeded: counter("te_request_success", "Requests that were answered."),
		texts: counter("te_"+does+"_count", "Texts of requests."), done: counter("te_"+does+"_success", "Texts whose results were computed."),
		failed:       prometheus.NewCounterVec(failed, []string{"err"}),
		duration:     histogram("te_request_duration", "Seconds from the arrival of a request to its results.", 1e-4),
		tokenization: histogram("te_request_tokenization_duration", "Seconds that a request's texts took to tokenize.", 1e-5),
		waiting:      histogram("te_request_queue_duration", "Seconds that a text waited.", 1e-5),
		inference:    histogram("te_request_inference_duration", "Seconds that batches took to compute.", 1e-4),
		batchTexts:   histogram("te_batch_next_size", "Texts in a batch.", 1), batchTokens: histogram("te_batch_next_tokens", "Tokens in a batch.", 1),
		lengths: histogram("te_request_input_length", "Tokens of a text.", 1),
		each: eachText{
			duration:     histogram("te_"+does+"_duration", "Seconds from the arrival of a text to its result.", 1e-4),
			tokenization: histogram("te_"+does+"_tokenization_duration", "Seconds that a text took to tokenize, the mean of its request.", 1e-5),
			waiting:      histogram("te_"+does+"_queue_duration", "Seconds that a text waited.", 1e-5),
			inference:    histogram("te_"+does+"_inference_duration", "Seconds that the batch of a text took to compute.", 1e-4),
		},
	}
}

// all returns the metrics to register.
func (m *workMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{
		m.requests, m.succeeded, m.texts, m.done, m.failed, m.duration, m.tokenization, m.waiting, m.inference, m.batchTexts, m.batchTokens, m.lengths,
		m.each.duration, m.each.tokenization, m.each.waiting, m.each.inference,
	}
}

// observe is called after each batch.
func (m *workMetrics) observe(r batch.Report) {
	for _, wait := range r.Waits {
		m.waiting.Observe(wait.Seconds())
		m.each.waiting.Observe(wait.Seconds())
		m.each.inference.Observe(r.Took.Seconds())
	}
	m.inference.Observe(r.Took.Seconds())
	m.batchTexts.Observe(float64(r.Items))
	m.batchTokens.Observe(float64(r.Size))
	if r.Err == nil {
		m.done.Add(float64(r.Items))
	}
}

// tokenized is called with the numbers of tokens of a request's texts, and with the time that they took.
func (m *workMetrics) tokenized(lengths []int, took time.Duration) {
	m.tokenization.Observe(took.Seconds())
	for _, tokens := range lengths {
		m.lengths.Observe(float64(tokens))
		m.each.tokenization.Observe(took.Seconds() / float64(len(lengths)))
	}
}

// end counts the end of a request, with the number of its results.
func (m *workMetrics) end(began time.Time, results int, err error) {
	f, isFailure := errors.AsType[gate.Failure](err)
	switch {
	case err == nil:
		m.succeeded.Inc()
		took := time.Since(began).Seconds()
		m.duration.Observe(took)
		for range results {
			m.each.duration.Observe(took)
		}
	case errors.Is(err, batch.ErrFull):
		m.failed.WithLabelValues("overloaded").Inc()
	case isFailure && f.Status < 500:
		m.failed.WithLabelValues("validation").Inc()
	default:
		m.failed.WithLabelValues("backend").Inc()
	}
}
