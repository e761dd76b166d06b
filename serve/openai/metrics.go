package openai

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// A Reporter is a Model that reports its state. *llm.Model is a Reporter.
type Reporter interface {
	Model
	Stats() llm.Stats
	Health() error // nil if the model can generate texts
}

// health answers with status 200 if Health returns nil.
func (h *Handler) health(w http.ResponseWriter, r *http.Request) {
	if err := h.Health(r.Context()); err != nil {
		write(w, gate.Failure{Status: http.StatusServiceUnavailable, Message: err.Error()})
		return
	}
	w.WriteHeader(http.StatusOK)
}

// Health returns an error if a loaded model does not work, if the loads of all models have failed, or if EmbedOptions.Health returns an error.
func (h *Handler) Health(ctx context.Context) error {
	for _, name := range h.names {
		if err := h.healthOf(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if h.Repository != nil {
		if err := h.Repository.Health(); err != nil {
			return err
		}
	}
	if h.alsoHealth != nil {
		return h.alsoHealth(ctx)
	}
	return nil
}

// healthOf returns why a model does not work, or nil.
func (h *Handler) healthOf(ctx context.Context, name string) error {
	m, release := h.loaded(name)
	defer release()
	if m, ok := m.(Reporter); ok {
		return m.Health()
	}
	if e := h.workers[name]; e != nil {
		return e.health(ctx)
	}
	return nil
}

// loaded returns the model with a name if it generates texts and is loaded, and otherwise nil. The caller calls release.
func (h *Handler) loaded(name string) (m Model, release func()) {
	if on := h.OnDemand[name]; on != nil {
		if m, release, ok := on.Peek(); ok {
			return m, release
		}
	}
	return h.Models[name], func() {}
}

// scrapes is the number of requests for metrics that are answered at a time.
const scrapes = 4

// metrics returns a handler for the metrics of the models.
func (h *Handler) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{h})
	registry.MustRegister(h.others...)
	for name, e := range h.workers {
		registry.MustRegister(e.measured().all()...)
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "te_queue_size", Help: "Texts that wait.", ConstLabels: prometheus.Labels{"model_name": name},
		}, func() float64 { return float64(e.waiting()) }))
	}
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
		m, release := c.loaded(name)
		if m, ok := m.(Reporter); ok {
			collect(to, name, m.Stats())
		} else if on := c.OnDemand[name]; on != nil { // for autoscalers, which expect a number
			collectGauges(to, name, llm.Stats{Waiting: on.Status().Waiting})
		}
		release()
	}
	if c.Repository != nil {
		collectStates(to, c.Repository.List())
	}
}

// collectStates sends the metrics of the models of a repository.
func collectStates(to chan<- prometheus.Metric, list []repository.Status) {
	send := func(kind prometheus.ValueType, name, help string, v float64, labels prometheus.Labels) {
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc("gopherwarp_model_"+name, help, nil, labels), kind, v)
	}
	for _, s := range list {
		for _, state := range repository.States() {
			is := 0.0
			if s.State == state {
				is = 1
			}
			send(prometheus.GaugeValue, "state", "1 for the state of the model, 0 for other states.", is, prometheus.Labels{"model_name": s.Name, "state": state.String()})
		}
		labels := prometheus.Labels{"model_name": s.Name}
		send(prometheus.GaugeValue, "waiting", "Requests that wait until the model is ready.", float64(s.Waiting), labels)
		send(prometheus.CounterValue, "loads_total", "Loads of the model that succeeded.", float64(s.Loads), labels)
		send(prometheus.CounterValue, "load_failures_total", "Loads of the model that failed.", float64(s.Failures), labels)
		send(prometheus.GaugeValue, "load_seconds", "Seconds of the last load that succeeded.", s.Took.Seconds(), labels)
	}
}

// sender returns a function that sends metrics under vLLM's names.
func sender(to chan<- prometheus.Metric) func(kind prometheus.ValueType, name, help string, v float64, labels prometheus.Labels) {
	return func(kind prometheus.ValueType, name, help string, v float64, labels prometheus.Labels) {
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc("vllm:"+name, help, nil, labels), kind, v)
	}
}

// collectGauges sends the metrics of a model that are always there, whether it is loaded or not.
func collectGauges(to chan<- prometheus.Metric, model string, s llm.Stats) {
	send, labels := sender(to), prometheus.Labels{"model_name": model}
	send(prometheus.GaugeValue, "num_requests_running", "Texts that are being generated.", float64(s.Running), labels)
	send(prometheus.GaugeValue, "num_requests_waiting", "Texts that wait for a place or for memory.", float64(s.Waiting), labels)
	send(prometheus.GaugeValue, "kv_cache_usage_perc", "Share of the cache's pages in use: 1 is all of them.", float64(s.UsedPages)/float64(max(s.Pages, 1)), labels)
}

// collect sends the metrics of a model.
func collect(to chan<- prometheus.Metric, model string, s llm.Stats) {
	labels, send := prometheus.Labels{"model_name": model}, sender(to)
	collectGauges(to, model, s)
	for _, m := range []struct {
		kind       prometheus.ValueType
		name, help string
		value      float64
	}{
		{prometheus.CounterValue, "prompt_tokens_total", "Tokens of prompts.", float64(s.Prompt)},
		{prometheus.CounterValue, "generation_tokens_total", "Tokens of generated texts.", float64(s.Generated)},
		{prometheus.CounterValue, "prefix_cache_queries_total", "Tokens that were looked up in the cache.", float64(s.Prompt)},
		{prometheus.CounterValue, "prefix_cache_hits_total", "Tokens that the cache had.", float64(s.Known)},
		{prometheus.CounterValue, "num_preemptions_total", "Texts that were interrupted and computed again.", float64(s.Dropped)},
	} {
		send(m.kind, m.name, m.help, m.value, labels)
	}
	if s.DraftTokens > 0 {
		send(prometheus.CounterValue, "spec_decode_num_drafts_total", "Steps of texts with guessed tokens.", float64(s.Drafts), labels)
		send(prometheus.CounterValue, "spec_decode_num_draft_tokens_total", "Tokens that were guessed.", float64(s.Drafted), labels)
		send(prometheus.CounterValue, "spec_decode_num_accepted_tokens_total", "Guessed tokens that were right.", float64(s.Accepted), labels)
	}
	reasons := map[string]int64{"stop": 0, "length": 0, "abort": s.Aborted}
	for f, n := range s.Finished {
		reasons[f.String()] += n
	}
	for reason, n := range reasons {
		send(prometheus.CounterValue, "request_success_total", "Texts that ended, by reason.", float64(n), prometheus.Labels{"model_name": model, "finished_reason": reason})
	}
	send(prometheus.GaugeValue, "cache_config_info", "The size of the cache.", 1, prometheus.Labels{
		"model_name": model, "block_size": strconv.Itoa(llama.PageTokens), "num_gpu_blocks": strconv.Itoa(s.Pages), "enable_prefix_caching": "True",
	})
	if s.Adapters > 0 {
		send(prometheus.GaugeValue, "lora_requests_info", "The adapters of texts that are being generated and that wait; the value is the time.", float64(time.Now().Unix()), prometheus.Labels{
			"model_name": model, "max_lora": strconv.Itoa(s.Adapters), "running_lora_adapters": strings.Join(s.RunningAdapters, ","), "waiting_lora_adapters": strings.Join(s.WaitingAdapters, ","),
		})
	}
	for name, m := range histograms(s.Histograms) {
		to <- constant(prometheus.NewDesc("vllm:"+name, m.help, nil, labels), m.Histogram)
	}
}

// described is a histogram with its description.
type described struct {
	llm.Histogram
	help string
}

// histograms returns the histograms by their names. Two have a second name, which older versions of vLLM use.
func histograms(h llm.Histograms) map[string]described {
	token := described{h.InterToken, "Seconds from a token to the next."}
	return map[string]described{
		"time_to_first_token_seconds":           {h.FirstToken, "Seconds from the arrival of a text to its first token."},
		"inter_token_latency_seconds":           token,
		"time_per_output_token_seconds":         token,
		"request_time_per_output_token_seconds": {h.PerToken, "Mean seconds per token of a text after the first."},
		"e2e_request_latency_seconds":           {h.Whole, "Seconds from the arrival of a text to its last token."},
		"request_queue_time_seconds":            {h.Queue, "Seconds that a text waited for its first place."},
		"request_inference_time_seconds":        {h.Inference, "Seconds from the first place of a text to its last token."},
		"request_prefill_time_seconds":          {h.Prefill, "Seconds from the first place of a text to its first token."},
		"request_decode_time_seconds":           {h.Decode, "Seconds from the first token of a text to its last."},
		"request_prompt_tokens":                 {h.PromptTokens, "Tokens of the prompt of a text."},
		"request_generation_tokens":             {h.GeneratedTokens, "Tokens of a text."},
		"request_max_num_generation_tokens":     {h.LongestTokens, "Tokens of the longest text of a request."},
		"request_params_max_tokens":             {h.MaxTokens, "The limit of the tokens of a text, if the request has one."},
		"request_params_n":                      {h.Texts, "Texts of a request."},
		"iteration_tokens_total":                {h.StepTokens, "Tokens that are computed at once."},
	}
}

// constant returns the metric of a histogram.
func constant(d *prometheus.Desc, h llm.Histogram) prometheus.Metric {
	buckets, n := make(map[float64]uint64, len(h.Bounds)), uint64(0)
	for i, bound := range h.Bounds {
		n += h.Counts[i]
		buckets[bound] = n
	}
	return prometheus.MustNewConstHistogram(d, h.Count(), h.Sum, buckets)
}
