package openai_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/serve/openai"
)

// reporter is a model with a state.
type reporter struct {
	echo
	stats llm.Stats
	err   error
}

func (r *reporter) Stats() llm.Stats { return r.stats }

func (r *reporter) Health() error { return r.err }

// get returns the status and the body of an answer.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func TestHealth(t *testing.T) {
	m := &reporter{}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"a": &echo{}, "m": m}, Keys: []string{"key"}})
	if status, body := get(t, s.URL+"/health"); status != http.StatusOK {
		t.Errorf("%d: %s", status, body)
	}
	m.err = errors.New("the device is lost")
	if status, body := get(t, s.URL+"/health"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"message":"m: the device is lost","type":"server_error"`) {
		t.Errorf("after a failure: %d: %s", status, body)
	}
}

func TestMetrics(t *testing.T) {
	m := &reporter{stats: llm.Stats{
		Running: 3, Waiting: 2, Pages: 40, UsedPages: 10, Prompt: 100, Known: 30, Generated: 50, Dropped: 1, Aborted: 7, DraftTokens: 4, Drafts: 6, Drafted: 20, Accepted: 15, Adapters: 4, RunningAdapters: []string{"x", "y"}, WaitingAdapters: []string{"z"},
		Finished: map[llm.Finish]int64{llm.Ended: 2, llm.Stopped: 3, llm.Full: 4},
		Histograms: llm.Histograms{
			FirstToken: llm.Histogram{Bounds: []float64{0.001, 0.005}, Counts: []uint64{1, 2, 4}, Sum: 5.5},
			InterToken: llm.Histogram{Bounds: []float64{0.01}, Counts: []uint64{3, 0}, Sum: 0.5},
		},
	}}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"a": &echo{}, "m": m}, Keys: []string{"key"}})
	status, body := get(t, s.URL+"/metrics")
	if status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	for _, want := range []string{
		`vllm:num_requests_running{model_name="m"} 3`, `vllm:num_requests_waiting{model_name="m"} 2`, `vllm:kv_cache_usage_perc{model_name="m"} 0.25`,
		`vllm:prompt_tokens_total{model_name="m"} 100`, `vllm:generation_tokens_total{model_name="m"} 50`, `vllm:prefix_cache_queries_total{model_name="m"} 100`,
		`vllm:prefix_cache_hits_total{model_name="m"} 30`, `vllm:num_preemptions_total{model_name="m"} 1`,
		`vllm:request_success_total{finished_reason="stop",model_name="m"} 5`, `vllm:request_success_total{finished_reason="length",model_name="m"} 4`,
		`vllm:request_success_total{finished_reason="abort",model_name="m"} 7`,
		`vllm:cache_config_info{block_size="64",enable_prefix_caching="True",model_name="m",num_gpu_blocks="40"} 1`,
		`vllm:time_to_first_token_seconds_bucket{model_name="m",le="0.001"} 1`, `vllm:time_to_first_token_seconds_bucket{model_name="m",le="0.005"} 3`,
		`vllm:time_to_first_token_seconds_bucket{model_name="m",le="+Inf"} 7`, `vllm:time_to_first_token_seconds_sum{model_name="m"} 5.5`,
		`vllm:inter_token_latency_seconds_count{model_name="m"} 3`, `vllm:time_per_output_token_seconds_sum{model_name="m"} 0.5`,
		`vllm:spec_decode_num_drafts_total{model_name="m"} 6`, `vllm:spec_decode_num_draft_tokens_total{model_name="m"} 20`,
		`vllm:spec_decode_num_accepted_tokens_total{model_name="m"} 15`,
		`vllm:e2e_request_latency_seconds_count{model_name="m"} 0`, `vllm:request_queue_time_seconds_count{model_name="m"} 0`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("there is no %s in\n%s", want, body)
		}
	}
	if want := "\nvllm:lora_requests_info{max_lora=\"4\",model_name=\"m\",running_lora_adapters=\"x,y\",waiting_lora_adapters=\"z\"} "; !strings.Contains(body, want) {
		t.Errorf("there is no %q in\n%s", want, body)
	}
	if strings.Contains(body, `"a"`) {
		t.Errorf("metrics of a model without a state:\n%s", body)
	}
}

// dashboard lists the metrics in the queries of vLLM's dashboards for Grafana (examples/observability in vLLM 0.33.0), with the label that
// their variables use, and those that the endpoint picker of the Gateway API Inference Extension reads.
var dashboard = []string{
	"vllm:e2e_request_latency_seconds_bucket", "vllm:e2e_request_latency_seconds_sum", "vllm:e2e_request_latency_seconds_count", "vllm:prompt_tokens_total",
	"vllm:generation_tokens_total", "vllm:inter_token_latency_seconds_bucket", "vllm:inter_token_latency_seconds_sum", "vllm:inter_token_latency_seconds_count",
	"vllm:request_time_per_output_token_seconds_bucket", "vllm:request_time_per_output_token_seconds_sum", "vllm:request_time_per_output_token_seconds_count",
	"vllm:time_per_output_token_seconds_bucket", "vllm:iteration_tokens_total_count", "vllm:num_requests_running", "vllm:num_requests_waiting",
	"vllm:time_to_first_token_seconds_bucket",
	"vllm:time_to_first_token_seconds_sum", "vllm:time_to_first_token_seconds_count", "vllm:kv_cache_usage_perc", "vllm:request_prompt_tokens_bucket",
	"vllm:request_generation_tokens_bucket", "vllm:request_success_total", "vllm:request_queue_time_seconds_sum", "vllm:request_prefill_time_seconds_sum",
	"vllm:request_decode_time_seconds_sum", "vllm:request_max_num_generation_tokens_sum", "vllm:cache_config_info",
}

// Each metric of the dashboards is there after a request of two texts.
func TestVLLMDashboard(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	if status, body := post(t, s.URL+"/v1/completions", `{"prompt": "a", "max_tokens": 3, "n": 2, "temperature": 0, "ignore_eos": true}`); status != http.StatusOK {
		t.Fatalf("%d: %s", status, body)
	}
	_, body := get(t, s.URL+"/metrics")
	for _, name := range dashboard {
		if !regexp.MustCompile(`(?m)^` + name + `\{(.*,)?model_name="m"`).MatchString(body) {
			t.Errorf("there is no %s in\n%s", name, body)
		}
	}
	for _, want := range []string{`vllm:request_max_num_generation_tokens_sum{model_name="m"} 3`, `vllm:request_generation_tokens_sum{model_name="m"} 6`, `vllm:request_success_total{finished_reason="length",model_name="m"} 2`} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("there is no %s in\n%s", want, body)
		}
	}
}

// TestServer serves a model that generates several texts at once to more clients, some of which leave.
func TestServer(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 3})
	if err != nil {
		t.Fatal(err)
	}
	h, err := openai.New(openai.Options{Models: map[string]openai.Model{"m": m}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	defer s.Close()
	const body = `{"max_tokens": 20, "temperature": 0, "stream": true, "messages": [{"role": "user", "content": "Hi"}]}`
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if i%3 == 0 {
				r, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
				if err == nil {
					err = r.Body.Close()
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
			r, err := http.Post(s.URL+"/v1/completions", "application/json", strings.NewReader(`{"max_tokens": 20, "temperature": 0, "prompt": "Hi"}`))
			if err != nil {
				t.Error(err)
				return
			}
			got, err := io.ReadAll(r.Body)
			if err = errors.Join(err, r.Body.Close()); err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(got), `"completion_tokens":20`) {
				t.Errorf("%d, %v: %s", r.StatusCode, err, got)
			}
		})
	}
	all.Wait()
	for end := time.Now().Add(time.Minute); m.Stats().Running+m.Stats().Waiting+m.Stats().UsedPages > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after all clients have left: %+v", m.Stats())
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if status, body := get(t, s.URL+"/health"); status != http.StatusServiceUnavailable {
		t.Errorf("health of a closed model: %d %s", status, body)
	}
	if status, body := post(t, s.URL+"/v1/completions", `{"prompt": "Hi"}`); status != http.StatusServiceUnavailable {
		t.Errorf("a closed model: %d %s", status, body)
	}
}
