package openai

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// A Reporter is a Model that reports what it does. *llm.Model is one.
type Reporter interface {
	Model
	Stats() llm.Stats
	Health() error // nil if the model can generate texts
}

// health answers with status 200 if all models can generate texts.
func (h *Handler) health(w http.ResponseWriter, _ *http.Request) {
	for _, name := range h.names {
		if m, ok := h.Models[name].(Reporter); ok {
			if err := m.Health(); err != nil {
				write(w, gate.Failure{Status: http.StatusServiceUnavailable, Message: name + ": " + err.Error()})
				return
			}
		}
	}
	w.WriteHeader(http.StatusOK)
}

// scrapes is the number of requests for metrics that are answered at a time.
const scrapes = 4

// metrics returns a handler for the metrics of the models.
func (h *Handler) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{h})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapes})
}

// collector collects the metrics of the models, with the names and labels of vLLM's.
type collector struct{ *Handler }

// Describe implements prometheus.Collector. It describes no metrics, which makes the collector unchecked, because they depend on the
// models.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	for _, name := range c.names {
		if m, ok := c.Models[name].(Reporter); ok {
			collect(to, name, m.Stats())
		}
	}
}

// collect sends the metrics of a model.
func collect(to chan<- prometheus.Metric, model string, s llm.Stats) {
	labels := prometheus.Labels{"model_name": model}
	send := func(kind prometheus.ValueType, name, help string, v float64, labels prometheus.Labels) {
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc("vllm:"+name, help, nil, labels), kind, v)
	}
	for _, m := range []struct {
		kind       prometheus.ValueType
		name, help string
		value      float64
	}{
		{prometheus.GaugeValue, "num_requests_running", "Texts that are being generated.", float64(s.Running)},
		{prometheus.GaugeValue, "num_requests_waiting", "Texts that wait for a place or for memory.", float64(s.Waiting)},
		{prometheus.GaugeValue, "kv_cache_usage_perc", "Share of the cache's pages in use: 1 is all of them.", float64(s.UsedPages) / float64(max(s.Pages, 1))},
		{prometheus.CounterValue, "prompt_tokens_total", "Tokens of prompts.", float64(s.Prompt)},
		{prometheus.CounterValue, "generation_tokens_total", "Tokens of generated texts.", float64(s.Generated)},
		{prometheus.CounterValue, "prefix_cache_queries_total", "Tokens that were looked up in the cache.", float64(s.Prompt)},
		{prometheus.CounterValue, "prefix_cache_hits_total", "Tokens that the cache had.", float64(s.Known)},
		{prometheus.CounterValue, "num_preemptions_total", "Texts that were interrupted because memory ran out.", float64(s.Dropped)},
	} {
		send(m.kind, m.name, m.help, m.value, labels)
	}
	reasons := map[string]int64{"stop": 0, "length": 0}
	for f, n := range s.Finished {
		reasons[f.String()] += n
	}
	for reason, n := range reasons {
		send(prometheus.CounterValue, "request_success_total", "Texts that ended, by reason.", float64(n), prometheus.Labels{"model_name": model, "finished_reason": reason})
	}
	send(prometheus.GaugeValue, "cache_config_info", "The size of the cache.", 1, prometheus.Labels{
		"model_name": model, "block_size": strconv.Itoa(llama.PageTokens), "num_gpu_blocks": strconv.Itoa(s.Pages),
	})
}
